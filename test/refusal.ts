/** What a refusal of bad input must be. */
import { expect } from 'vitest'
import type { HotbucketErrorCode } from '../src/index.ts'

type ErrorKind = typeof RangeError | typeof TypeError

/** Runs `call` with arguments of any type, as JavaScript callers do, and checks what it throws. */
export function refuses(call: () => unknown, kind: ErrorKind, code: HotbucketErrorCode, ...parts: string[]): void {
  let thrown: unknown
  try {
    call()
  } catch (error) {
    thrown = error
  }
  expect(thrown).toBeInstanceOf(kind)
  expect(thrown).toMatchObject({ code })
  for (const part of parts) expect((thrown as Error).message).toContain(part)
}

/** A value of any type where the compiler wants one of its own, as JavaScript callers pass it. */
export const loose = (value: unknown) => value as never
