/** The figures of the last run, one JSON file that the table and the pictures are drawn from. */
import { readFileSync, writeFileSync } from 'node:fs'

const file = new URL('./results.json', import.meta.url)

export function load() {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    if (error.code === 'ENOENT') return {}
    throw error
  }
}

/** Numbers rounded to five figures: more is noise, and makes the file hard to read. */
const rounded = (_, value) => (typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(5)) : value)

/** Puts `sections` in place of those of the same name. */
export function save(sections) {
  const rows = (value) => (Array.isArray(value) ? `[\n    ${value.map((row) => JSON.stringify(row, rounded)).join(',\n    ')}\n  ]` : JSON.stringify(value, rounded))
  const all = Object.entries({ ...load(), ...sections })
  writeFileSync(file, `{\n  ${all.map(([name, value]) => `${JSON.stringify(name)}: ${rows(value)}`).join(',\n  ')}\n}\n`)
}
