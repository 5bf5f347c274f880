import { expect, test } from 'vitest'
import { Refusals } from '../../src/stores/refusals.ts'

test('a refusal is taken once', () => {
  const refusals = new Refusals()
  refusals.add('a')
  refusals.add('a')
  expect([refusals.take('b'), refusals.take('a'), refusals.take('a'), refusals.take('a')]).toEqual([false, true, true, false])
})

test('beyond its room as many are taken as were added, whoever asks: nothing is minted, nothing grows', () => {
  const refusals = new Refusals(2)
  for (const key of ['a', 'b', 'c', 'd', 'a']) refusals.add(key)
  const taken = ['a', 'a', 'b', 'x', 'd', 'c'].map((key) => refusals.take(key))
  expect(taken).toEqual([true, true, true, true, true, false])
})
