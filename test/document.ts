/**
 * A Markdown page whose numbers are read by a test. It remembers which stretches were read, so that another test can
 * change each of them and see whether anybody notices.
 */

/** From and to, as offsets in the text. */
type Stretch = readonly [number, number]

export type Row = Readonly<Record<string, string>>

interface Cell {
  readonly text: string
  readonly from: number
}

export class Document {
  readonly text: string
  readonly read: Stretch[] = []

  constructor(text: string) {
    this.text = text
  }

  /** What the groups of `pattern` match; throws where the page does not say that. */
  say(pattern: RegExp): string[] {
    const match = new RegExp(pattern.source, `${pattern.flags}d`).exec(this.text)
    if (match === null) throw new Error(`the page does not say ${pattern}`)
    for (const stretch of match.indices!.slice(1)) if (stretch !== undefined) this.read.push(stretch)
    return match.slice(1)
  }

  /** As `say`, for one number. */
  number(pattern: RegExp): number {
    return Number(this.say(pattern)[0]!.replaceAll(',', ''))
  }

  /** The rows of every table whose head is `head`, in order, without back quotes; the columns in `reads` are remembered. */
  tables(head: readonly string[], reads: readonly string[] = head): Row[][] {
    const found: Row[][] = []
    let rows: Row[] | undefined
    let offset = 0
    for (const line of this.text.split('\n')) {
      const cells = cellsOf(line, offset)
      offset += line.length + 1
      if (cells.length === 0) rows = undefined
      else if (cells.map(({ text }) => text).join('|') === head.join('|')) found.push((rows = []))
      else if (rows !== undefined && !/^-+$/.test(cells[0]!.text)) rows.push(this.#row(head, cells, reads))
    }
    if (found.length === 0) throw new Error(`the page has no table of ${head.join(', ')}`)
    return found
  }

  /** The one table whose head is `head`. */
  table(head: readonly string[], reads: readonly string[] = head): Row[] {
    const [first, ...others] = this.tables(head, reads)
    if (others.length > 0) throw new Error(`the page has ${others.length + 1} tables of ${head.join(', ')}`)
    return first!
  }

  #row(head: readonly string[], cells: readonly Cell[], reads: readonly string[]): Row {
    return Object.fromEntries(
      head.map((name, at) => {
        const { text, from } = cells[at] ?? { text: '', from: 0 }
        if (reads.includes(name)) this.read.push([from, from + text.length])
        return [name, text.replaceAll('`', '')]
      }),
    )
  }
}

function cellsOf(line: string, offset: number): Cell[] {
  if (!line.startsWith('|')) return []
  const cells: Cell[] = []
  let from = offset + 1
  for (const raw of line.slice(1).split(/(?<!\\)\|/).slice(0, -1)) {
    cells.push({ text: raw.trim(), from: from + raw.length - raw.trimStart().length })
    from += raw.length + 1
  }
  return cells
}

/** The page once more for each number that was read, with one digit of that number changed. */
export function* misprints({ text, read }: Document): Generator<{ at: number; text: string }> {
  const places = new Set<number>()
  for (const [from, to] of read) for (const { index } of text.slice(from, to).matchAll(/\d/g)) places.add(from + index)
  for (const at of places) {
    const digit = (Number(text[at]) + 1) % 10
    yield { at, text: `${text.slice(0, at)}${digit}${text.slice(at + 1)}` }
  }
}
