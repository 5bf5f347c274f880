/** A client that sees header lines as they were sent. */
import { Agent, request } from 'node:http'

export interface Reply {
  readonly status: number
  /** All lines of a field, by lower-case name. */
  readonly lines: (name: string) => readonly string[]
  /** The one line of a field, or undefined; fails where there are several. */
  readonly field: (name: string) => string | undefined
  readonly body: string
}

export const keepAlive = new Agent({ keepAlive: true })

export function ask(url: string, headers: Record<string, string | string[]> = {}, agent: Agent | false = keepAlive, method = 'GET'): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { headers, agent, method }, (incoming) => {
      let body = ''
      incoming.setEncoding('utf8').on('data', (piece: string) => { body += piece })
      incoming.on('error', reject)
      incoming.on('end', () => {
        const lines = (name: string): string[] =>
          incoming.rawHeaders.filter((_, at) => at % 2 === 1 && incoming.rawHeaders[at - 1]!.toLowerCase() === name.toLowerCase())
        const field = (name: string): string | undefined => {
          const found = lines(name)
          if (found.length > 1) throw new Error(`${name} was sent ${found.length} times`)
          return found[0]
        }
        resolve({ status: incoming.statusCode!, lines, field, body })
      })
    })
    outgoing.on('error', reject)
    outgoing.end()
  })
}

/** Statuses of requests one after the other. */
export async function statusesOf(url: string, times: number, headers?: (at: number) => Record<string, string | string[]>): Promise<number[]> {
  const statuses: number[] = []
  for (let at = 0; at < times; at++) statuses.push((await ask(url, headers?.(at))).status)
  return statuses
}

/** How many of `statuses` are 200. */
export const admitted = (statuses: readonly number[]): number => statuses.filter((status) => status === 200).length

/** A promise with the function that resolves it. */
export function signal(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = (): void => {}
  const promise = new Promise<void>((settle) => { resolve = settle })
  return { promise, resolve }
}
