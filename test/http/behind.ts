/** A server behind one adapter for the length of one test. */
import type { GateOptions, Limiter } from '../../src/http/options.ts'
import { onTestFinished } from 'vitest'
import { adapters, ok } from './servers.mjs'

type Handler = (path: string, request: never) => { status: number; body: string } | Promise<{ status: number; body: string }>

/** The options of any adapter: what differs between them is not needed here. */
export type AnyOptions = GateOptions<never> & { readonly handler?: (...args: never[]) => unknown }

/** The URL of a server behind the limits, outermost first. */
export async function behind(adapter: string, limits: readonly (readonly [Limiter, AnyOptions?])[], handler: Handler = ok): Promise<string> {
  const { url, close } = await adapters[adapter]!(limits, handler)
  onTestFinished(close)
  return url
}

/** As above, for one limiter whose every request has the same key. */
export function one(adapter: string, limiter: Limiter, options: AnyOptions = {}, handler?: Handler): Promise<string> {
  return behind(adapter, [[limiter, { key: () => 'one', ...options }]], handler)
}
