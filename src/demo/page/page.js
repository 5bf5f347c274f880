// The live page: draws what the events say, and presses the buttons' requests.
const byId = (id) => document.getElementById(id)
const comma = (n) => n.toLocaleString('en-US')
const WORKERS = 4
/** Half seconds that the chart shows. */
const SPAN = 120

function element(tag, className = '', text = '') {
  const made = document.createElement(tag)
  made.className = className
  made.textContent = text
  return made
}

byId('answer').querySelector('.swatches').append(...Array.from({ length: WORKERS }, (_, at) => element('i', `w${at + 1}`)))

// Rates are the differences of counts over the last two seconds.
const states = []
const history = []

function rateOf(pick) {
  const [first, last] = [states[0], states.at(-1)]
  const seconds = (last.elapsedMs - first.elapsedMs) / 1_000
  if (seconds <= 0) return { admitted: 0, refused: 0 }
  const [a, b] = [pick(first), pick(last)]
  return { admitted: (b.admitted - a.admitted) / seconds, refused: (b.refused - a.refused) / seconds }
}

function meter(name, { admitted, refused }, most) {
  const item = element('li')
  const bar = element('div', 'bar')
  for (const [kind, rate] of [['ok', admitted], ['no', refused]]) {
    const part = element('i', kind)
    part.style.width = `${most === 0 ? 0 : (rate / most) * 100}%`
    bar.append(part)
  }
  item.append(element('span', '', name), bar, element('span', 'count', `${comma(Math.round(admitted))} ok, ${comma(Math.round(refused))} refused`))
  return item
}

function meters(list, rates) {
  const most = Math.max(...rates.map(([, { admitted, refused }]) => admitted + refused))
  list.replaceChildren(...rates.map(([name, rate]) => meter(name, rate, most)))
}

/** Steps from bin to bin, between two edges. */
function area(bottoms, tops) {
  const x = (at) => ((at + SPAN - tops.length) * 960) / SPAN
  const up = tops.map((top, at) => `L${x(at)} ${top}L${x(at + 1)} ${top}`).join('')
  const back = bottoms.map((bottom, at) => `L${x(at + 1)} ${bottom}L${x(at)} ${bottom}`).reverse().join('')
  return tops.length === 0 ? '' : `M${x(0)} ${bottoms[0]}${up}${back}Z`
}

/** Admitted above the line, refused below; by square roots, so that light traffic is seen beside a burst. */
function drawChart() {
  const most = Math.max(10, ...history.flatMap(({ admitted, refused }) => [admitted, refused]))
  byId('scale').textContent = `the last minute, up to ${comma(Math.round(most))}, by square roots`
  const height = (rate) => Math.sqrt(rate / most) * 76
  const line = history.map(() => 80)
  byId('chart').querySelector('.ok').setAttribute('d', area(line, history.map(({ admitted }) => 80 - height(admitted))))
  byId('chart').querySelector('.no').setAttribute('d', area(line, history.map(({ refused }) => 80 + height(refused))))
}

function draw(state) {
  const before = states.at(-1)
  states.push(state)
  if (states.length > 5) states.shift()
  const total = ({ tiers }) => ({ admitted: tiers.free.admitted + tiers.pro.admitted, refused: tiers.free.refused + tiers.pro.refused })
  if (before !== undefined && state.elapsedMs > before.elapsedMs) {
    const [a, b, seconds] = [total(before), total(state), (state.elapsedMs - before.elapsedMs) / 1_000]
    history.push({ admitted: (b.admitted - a.admitted) / seconds, refused: (b.refused - a.refused) / seconds })
    if (history.length > SPAN) history.shift()
  }
  drawChart()
  const now = rateOf(total)
  byId('ok-now').textContent = comma(Math.round(now.admitted))
  byId('no-now').textContent = comma(Math.round(now.refused))
  byId('limits').textContent = `free ${comma(state.limits.free)}, pro ${comma(state.limits.pro)} per ${state.per}`
  meters(byId('tiers'), ['free', 'pro'].map((tier) => [tier, rateOf(({ tiers }) => tiers[tier])]))
  meters(byId('workers'), state.workers.map((_, at) => [`worker ${at + 1}`, rateOf(({ workers }) => workers[at])]))
  const keys = state.refusedKeys.map(({ key, count }) => {
    const item = element('li')
    item.append(element('span', '', key), element('b', '', comma(count)))
    return item
  })
  byId('keys').replaceChildren(...(keys.length > 0 ? keys : [element('li', 'note', 'Nobody has been refused yet.')]))
  byId('held').textContent = comma(state.table.keys)
  byId('capacity').textContent = comma(state.table.capacity)
  byId('bytes').textContent = `${(state.table.bytes / 1_024).toFixed(0)} kB`
  byId('occupancy').firstElementChild.style.width = `${(state.table.keys / state.table.capacity) * 100}%`
  if (unanswered === 0 && state.switched >= switched) byId('traffic').checked = state.traffic
}

function drawRow(row, total, byWorker, limit) {
  row.querySelector('.number').textContent = comma(total)
  const times = total / limit
  row.querySelector('.remark').textContent = total === limit ? 'admitted: the limit' : `admitted: ${Number(times.toFixed(1))} times the limit`
  row.classList.toggle('held', total <= limit)
  row.classList.toggle('over', total > limit)
  // The scale is the same for both: as much as all Maps could admit.
  const share = (n) => `${(n / (limit * WORKERS)) * 100}%`
  const parts = byWorker.map((n, at) => {
    const part = element('i', `w${at + 1}`)
    part.style.width = share(n)
    part.title = `worker ${at + 1}: ${n}`
    return part
  })
  const mark = element('span', 'mark')
  mark.style.left = share(limit)
  row.querySelector('.bar').replaceChildren(...parts, mark)
}

// A state that was sent before the box was pressed must not turn it back.
let [unanswered, switched] = [0, 0]

async function switchTraffic(on) {
  unanswered++
  try {
    const answer = await (await fetch(`traffic?on=${on}`, { method: 'POST' })).json()
    switched = answer.switched
  } finally {
    unanswered--
  }
}

async function burst(tier) {
  const buttons = [...document.querySelectorAll('button')]
  for (const button of buttons) button.disabled = true
  byId('sent').textContent = 'Sending…'
  try {
    const response = await fetch(`burst?tier=${tier}`, { method: 'POST' })
    if (!response.ok) throw new Error(await response.text())
    const { limit, requests, hotbucket, maps, workers } = await response.json()
    drawRow(byId('shared'), hotbucket, workers.map((worker) => worker.hotbucket), limit)
    drawRow(byId('maps'), maps, workers.map((worker) => worker.maps), limit)
    byId('sent').textContent = `${comma(requests)} requests of one ${tier} client, who may make ${comma(limit)}.`
  } catch (error) {
    byId('sent').textContent = `It could not be sent: ${error.message}`
  } finally {
    for (const button of buttons) button.disabled = false
  }
}

for (const button of document.querySelectorAll('button')) button.addEventListener('click', () => burst(button.dataset.tier))
byId('traffic').addEventListener('change', ({ target }) => switchTraffic(target.checked))

const events = new EventSource('events')
const status = (text, kind) => Object.assign(byId('status'), { textContent: text, className: kind })
events.addEventListener('open', () => {
  // Another server counts from 0.
  switched = 0
  status('live', 'live')
})
events.addEventListener('error', () => status('the server is gone; trying again', 'lost'))
events.addEventListener('message', ({ data }) => draw(JSON.parse(data)))
