/**
 * A schedule as a string: one token a move, a count after a token that repeats.
 *
 *   a    the actor a takes its next access        a5     five times
 *   A    a is stopped for ever                    a!     a's wait times out
 *   a>b  a's notify wakes b                       +      the clock goes to its next reading
 */

export type Move =
  | { readonly kind: 'step'; readonly actor: number; readonly wakes: readonly number[] }
  | { readonly kind: 'kill'; readonly actor: number }
  | { readonly kind: 'timeout'; readonly actor: number }
  | { readonly kind: 'tick' }

const letter = (actor: number): string => String.fromCharCode(97 + actor)

function token(move: Move): string {
  if (move.kind === 'tick') return '+'
  if (move.kind === 'kill') return letter(move.actor).toUpperCase()
  if (move.kind === 'timeout') return `${letter(move.actor)}!`
  return letter(move.actor) + (move.wakes.length === 0 ? '' : `>${move.wakes.map(letter).join('')}`)
}

export function format(moves: readonly Move[]): string {
  const runs: [string, number][] = []
  for (const move of moves) {
    const last = runs.at(-1)
    const text = token(move)
    if (last?.[0] === text) last[1]++
    else runs.push([text, 1])
  }
  return runs.map(([text, times]) => (times === 1 ? text : text + times)).join(' ')
}

export function parse(schedule: string): Move[] {
  return schedule.split(' ').filter(Boolean).flatMap((run): Move[] => {
    const parts = /^(\+|[A-Z]|[a-z])(!|>[a-z]+)?(\d*)$/.exec(run)
    if (parts === null) throw new Error(`not a move: ${run}`)
    const [, head = '', tail = '', times] = parts
    const actor = head.toLowerCase().charCodeAt(0) - 97
    let move: Move
    if (head === '+') move = { kind: 'tick' }
    else if (head !== head.toLowerCase()) move = { kind: 'kill', actor }
    else if (tail === '!') move = { kind: 'timeout', actor }
    else move = { kind: 'step', actor, wakes: [...tail.slice(1)].map((name) => name.charCodeAt(0) - 97) }
    return Array<Move>(times === '' ? 1 : Number(times)).fill(move)
  })
}
