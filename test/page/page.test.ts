/// <reference lib="dom" />
/** The live page in a real browser, and its server as a stranger would try it. */
import { request } from 'node:http'
import type { Browser, Page, Route } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { BurstResult, LiveState } from '../../dist/demo/live.js'
import { Live } from '../../dist/demo/live.js'
import { startPage } from '../../dist/demo/page.js'
import type { Served } from './browser.ts'
import { chromiumPath, launch, serve } from './browser.ts'

let served: Served
beforeAll(async () => {
  served = await serve('--limit', '6', '--per', '1h')
})
afterAll(async () => {
  // The table's own code, so the page went down as it should.
  expect(await served.stop()).toBe(0)
})

/** Status and body of a request with exactly these headers. */
function ask(path: string, method = 'GET', headers: Record<string, string> = {}): Promise<{ status: number | undefined; body: string }> {
  return new Promise((resolve, reject) => {
    request(new URL(path, served.url), { method, headers }, (response) => {
      let body = ''
      response.setEncoding('utf8').on('data', (text: string) => (body += text))
      response.on('end', () => resolve({ status: response.statusCode, body }))
    }).on('error', reject).end()
  })
}

async function firstState(): Promise<LiveState> {
  const response = await fetch(new URL('events', served.url))
  for await (const bytes of response.body!) return JSON.parse(/^data: (.*)\n\n/.exec(Buffer.from(bytes).toString())![1]!) as LiveState
  throw new Error('no event')
}

describe('the server', () => {
  test('a burst admits the limit once, and each worker\'s Map admits it again (G1, G2)', async () => {
    for (const [tier, limit] of [['free', 6], ['pro', 30], ['free', 6]] as const) {
      const { body } = await ask(`/burst?tier=${tier}`, 'POST')
      const { workers, ...totals } = JSON.parse(body) as BurstResult
      expect(totals).toMatchObject({ tier, limit, hotbucket: limit, maps: 4 * limit })
      expect(workers.map(({ maps }) => maps)).toEqual([limit, limit, limit, limit])
    }
  })

  test('bursts that come at once are played one after another, each with totals of its own', async () => {
    const bursts = await Promise.all(Array.from({ length: 4 }, () => ask('/burst?tier=free', 'POST')))
    for (const { body } of bursts) expect(JSON.parse(body)).toMatchObject({ hotbucket: 6, maps: 24 })
  })

  test('the events tell tiers, four workers, refused keys and the table, and their counts agree', async () => {
    await ask('/burst?tier=free', 'POST')
    const { tiers, workers, refusedKeys, table, limits } = await firstState()
    const sum = (which: 'admitted' | 'refused', all: readonly Readonly<Record<'admitted' | 'refused', number>>[]) => all.reduce((total, each) => total + each[which], 0)
    expect(limits).toEqual({ free: 6, pro: 30 })
    expect(workers).toHaveLength(4)
    for (const which of ['admitted', 'refused'] as const) expect(sum(which, workers)).toBe(sum(which, Object.values(tiers)))
    expect(refusedKeys[0]!.count).toBeGreaterThan(0)
    expect(table.keys).toBeLessThanOrEqual(table.capacity)
  })

  test('only its own page may press the button: other origins and other names are refused, and nothing else is served', async () => {
    expect(await ask('/burst?tier=free', 'POST', { origin: 'http://evil.example' })).toMatchObject({ status: 403 })
    expect(await ask('/', 'GET', { host: 'evil.example' })).toMatchObject({ status: 403 })
    for (const [path, method] of [['/burst?tier=root', 'POST'], ['/burst?tier=free', 'GET'], ['/../live.ts', 'GET'], ['/%2e%2e/live.ts', 'GET'], ['/__proto__', 'GET'], ['/events', 'PUT']] as const) {
      expect([path, (await ask(path, method)).status]).toEqual([path, 404])
    }
  })

  test('a port that another program has is a usage error that says so', async () => {
    await expect(startPage({} as Live, Number(new URL(served.url).port))).rejects.toThrow(/another program has it/)
  })
})

test('the burst can fail: workers that share no limiter admit as much as the Maps', async () => {
  const live = await Live.start({ limit: 6, per: '1h', periodMs: 3_600_000, clients: [], worker: new URL('live-worker-twin.mjs', import.meta.url) })
  try {
    expect(await live.burst('free')).toMatchObject({ limit: 6, hotbucket: 24, maps: 24 })
  } finally {
    await live.close()
  }
})

describe.skipIf(chromiumPath === undefined)(`in Chromium (${chromiumPath ?? 'none found: CHROMIUM_PATH names one'})`, () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await launch()
  })
  afterAll(() => browser?.close())

  /** The page in a colour scheme, and everything that it complained of or asked of another server. */
  async function open(colorScheme: 'light' | 'dark') {
    const page = await browser.newPage({ colorScheme, viewport: { width: 1180, height: 900 } })
    const faults: string[] = []
    page.on('console', (message) => message.type() === 'error' && faults.push(message.text()))
    page.on('pageerror', (error) => faults.push(error.message))
    page.on('request', (asked) => {
      const { origin, protocol } = new URL(asked.url())
      if (protocol !== 'data:' && `${origin}/` !== served.url) faults.push(asked.url())
    })
    await page.goto(served.url)
    await page.waitForSelector('#status.live')
    return { page, faults }
  }
  const number = async (page: Page, selector: string) => Number((await page.textContent(selector))!.replaceAll(',', ''))

  test.each(['free', 'pro'] as const)('a press of the button as %s shows the limit for hotbucket and four times the limit for the Maps', async (tier) => {
    const limit = tier === 'free' ? 6 : 30
    const { page, faults } = await open('light')
    await page.click(`button[data-tier=${tier}]`)
    await page.waitForSelector('#maps.over')
    expect(await number(page, '#shared .number')).toBe(limit)
    expect(await number(page, '#maps .number')).toBe(4 * limit)
    expect(await page.textContent('#shared .remark')).toBe('admitted: the limit')
    expect(await page.textContent('#maps .remark')).toBe('admitted: 4 times the limit')
    expect(await page.locator('#maps .bar i').evaluateAll((parts) => parts.map((part) => (part as HTMLElement).title))).toEqual([1, 2, 3, 4].map((worker) => `worker ${worker}: ${limit}`))
    // Both bars have one scale: the Maps' parts fill it, and hotbucket's end where the limit is marked.
    const widths = await page.locator('#shared .bar i').evaluateAll((parts) => parts.map((part) => Number.parseFloat((part as HTMLElement).style.width)))
    expect(widths.reduce((sum, width) => sum + width, 0)).toBeCloseTo(25)
    expect(await page.locator('#shared .mark').evaluate((mark) => (mark as HTMLElement).style.left)).toBe('25%')
    await page.waitForFunction((name) => document.querySelector('#keys')!.textContent!.includes(`(${name})`), tier)
    expect(faults).toEqual([])
    await page.close()
  })

  test('a state that was sent before the box was pressed does not turn it back', async () => {
    const { page, faults } = await open('light')
    const held: Route[] = []
    await page.route('**/traffic*', (route) => void held.push(route))
    await page.uncheck('#traffic')
    // The server has not heard of it, and says so twice.
    await page.evaluate(() => new Promise<void>((resolve) => {
      let heard = 0
      const events = new EventSource('events')
      events.onmessage = () => {
        if (++heard < 3) return
        events.close()
        resolve()
      }
    }))
    expect(await page.isChecked('#traffic')).toBe(false)
    const answered = page.waitForResponse('**/traffic*')
    for (const route of held) await route.continue()
    await answered
    await page.unroute('**/traffic*')
    await page.check('#traffic')
    expect(faults).toEqual([])
    await page.close()
  })

  test('rates, tiers, workers and the table move with the traffic, which the box turns off for every viewer', async () => {
    const [{ page, faults }, other] = [await open('light'), await open('light')]
    await page.waitForFunction(() => document.querySelectorAll('#workers li').length === 4 && document.querySelectorAll('#tiers li').length === 2)
    await page.waitForFunction(() => document.querySelector('#chart .ok')!.getAttribute('d') !== '')
    await page.waitForFunction(() => Number(document.querySelector('#held')!.textContent) > 0)
    await page.uncheck('#traffic')
    await other.page.waitForFunction(() => !(document.querySelector('#traffic') as HTMLInputElement).checked)
    await page.waitForFunction(() => document.querySelector('#ok-now')!.textContent === '0' && document.querySelector('#no-now')!.textContent === '0')
    await page.check('#traffic')
    await page.waitForFunction(() => document.querySelector('#ok-now')!.textContent !== '0' || document.querySelector('#no-now')!.textContent !== '0')
    expect([...faults, ...other.faults]).toEqual([])
    await page.close()
    await other.page.close()
  })

  test('light and dark are two pages to the eye, and each has contrast enough to be read (WCAG AA)', async () => {
    const grounds: string[] = []
    for (const scheme of ['light', 'dark'] as const) {
      const { page, faults } = await open(scheme)
      const pairs = await page.evaluate(() => {
        const colour = (selector: string, property: 'color' | 'backgroundColor') => getComputedStyle(document.querySelector(selector)!)[property]
        const card = colour('#burst', 'backgroundColor')
        const inks = ['h2', '.note', '.legend .ok', '.legend .no', '#burst h3'].map((selector) => [colour(selector, 'color'), card] as const)
        return [...inks, [colour('header p', 'color'), colour('body', 'backgroundColor')] as const, [colour('button', 'color'), colour('button', 'backgroundColor')] as const]
      })
      for (const [ink, ground] of pairs) expect([scheme, ink, ground, contrast(ink, ground) >= 4.5]).toEqual([scheme, ink, ground, true])
      grounds.push(await page.evaluate(() => getComputedStyle(document.body).backgroundColor))
      expect(faults).toEqual([])
      await page.close()
    }
    expect(contrast(grounds[0]!, grounds[1]!)).toBeGreaterThan(10)
  })

  test('on a narrow screen nothing is wider than the screen', async () => {
    const { page } = await open('light')
    await page.setViewportSize({ width: 360, height: 700 })
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360)
    await page.close()
  })
})

/** The contrast of two colours, 1 to 21, as WCAG computes it. */
function contrast(a: string, b: string): number {
  const luminance = (text: string): number => {
    const [red, green, blue] = text.match(/[\d.]+/g)!.slice(0, 3).map((part) => {
      const share = Number(part) / 255
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
    })
    return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!
  }
  const [dark, light] = [luminance(a), luminance(b)].sort((x, y) => x - y)
  return (light! + 0.05) / (dark! + 0.05)
}
