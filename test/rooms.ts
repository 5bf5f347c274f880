/** The rules of the rooms, read off the text of the sources: who may say what, and who may import whom. */

/** Sources by path from the root. */
export type Sources = ReadonlyMap<string, string>

const LONGEST = 200

/** Files still longer than 200 lines, and the most that each may have. A number may only go down; a file that no longer needs it leaves the list. */
export const LONG_FILES: ReadonlyMap<string, number> = new Map([
  ['src/limiter.ts', 280],
  ['src/memory/buckets.ts', 240],
])

/** Who may ask the time besides `src/clock`: the demo is a program that times its own run, the store owes its caller a calendar date. */
const TELLS_TIME = [/^src\/clock\//, /^src\/demo\//, /^src\/stores\/express-rate-limit\.ts$/]

/** The facade and the clock see the memory; adapters see the facade. */
const SEES_MEMORY = [/^src\/memory\//, /^src\/limiter\.ts$/, /^src\/options\.ts$/, /^src\/clock\//]

/** Who may start or be a thread: the demo, and the coarse clock, which nothing else imports, so that the core never loads what it needs. */
const TICKER = /^src\/clock\/(?:coarse-clock|ticker)\.ts$/
const HAS_THREADS = [/^src\/demo\//, TICKER]

/** Comments and the contents of strings blanked out, so that only code is left. Text between `${` and `}` is code and stays. */
export function codeOf(source: string): string {
  const tokens = /\/\*[\s\S]*?\*\/|\/\/[^\n]*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`/g
  return source.replace(tokens, (token) => {
    if (token[0] !== '`') return token[0] === '/' ? ' ' : "''"
    return [...token.matchAll(/\$\{([^}]*)\}/g)].map(([, code]) => ` ${code} `).join('') || "''"
  })
}

/** The paths that a source imports or exports from, resolved; packages by their names. */
export function importsOf(path: string, source: string): string[] {
  const withoutComments = source.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/[^\n]*/gm, '')
  const found = [...withoutComments.matchAll(/(?:\bfrom|^\s*import|\bimport\()\s*['"]([^'"]+)['"]/gm)]
  return found.map(([, name]) => (name!.startsWith('.') ? new URL(name!, `file:///${path}`).pathname.slice(1) : name!))
}

function saysAtomics(code: string): boolean {
  // As a type the name is harmless: it makes no memory and reads none.
  return /\bAtomics\b/.test(code) || /\b(?:new|instanceof)\s+SharedArrayBuffer\b|\bSharedArrayBuffer\s*[.([]|\bBigInt64Array\s*\(\s*\w*[bB]uffer\b/.test(code)
}

function asksTime(code: string): boolean {
  return /\bDate\.now\b|\bnew\s+Date\s*(?:\(\s*\)|[^\s(])|(?<!\.)\bDate\s*\(\s*\)|\bperformance\s*\.|\bhrtime\b|\bprocess\s*\.\s*uptime\b/.test(code)
}

/** The files on a cycle of imports, if there is one. */
function cycleIn(sources: Sources): string[] | undefined {
  const done = new Set<string>()
  const walk = (path: string, trail: readonly string[]): string[] | undefined => {
    if (trail.includes(path)) return [...trail.slice(trail.indexOf(path)), path]
    if (done.has(path)) return undefined
    for (const next of importsOf(path, sources.get(path)!)) {
      const cycle = sources.has(next) ? walk(next, [...trail, path]) : undefined
      if (cycle !== undefined) return cycle
    }
    done.add(path)
    return undefined
  }
  for (const path of sources.keys()) {
    const cycle = walk(path, [])
    if (cycle !== undefined) return cycle
  }
  return undefined
}

function tooLong(path: string, source: string, longFiles: ReadonlyMap<string, number>): string | undefined {
  const lines = source.replace(/\n$/, '').split('\n').length
  const most = longFiles.get(path)
  if (lines > (most ?? LONGEST)) return `${path} has ${lines} lines, more than ${most ?? LONGEST}`
  return most !== undefined && lines <= LONGEST ? `${path} has ${lines} lines and leaves the list of long files` : undefined
}

/** Every breach of a rule, in words; none in a tidy house. */
export function breaches(sources: Sources, longFiles = LONG_FILES): string[] {
  const found: (string | undefined)[] = []
  for (const [path, source] of sources) {
    const code = codeOf(source)
    const imports = importsOf(path, source)
    if (!path.startsWith('src/memory/') && saysAtomics(code)) found.push(`${path} touches shared memory`)
    if (!TELLS_TIME.some((room) => room.test(path)) && asksTime(code)) found.push(`${path} asks the time`)
    for (const other of imports) {
      if (path.startsWith('src/arithmetic/') && !/^src\/(arithmetic\/|errors\.ts$)/.test(other)) found.push(`${path} imports ${other}`)
      if (other.startsWith('src/memory/') && !SEES_MEMORY.some((room) => room.test(path))) found.push(`${path} imports ${other}`)
      if (/^(?:node:)?(?:worker_threads|cluster|child_process)$/.test(other) && !HAS_THREADS.some((room) => room.test(path))) found.push(`${path} imports ${other}`)
      if (TICKER.test(other)) found.push(`${path} imports ${other}`)
      if (path === 'src/errors.ts') found.push(`${path} imports ${other}`)
      if (other.startsWith('src/') && !sources.has(other)) found.push(`${path} imports ${other}, which is not there`)
    }
    found.push(tooLong(path, source, longFiles))
  }
  const cycle = cycleIn(sources)
  if (cycle !== undefined) found.push(`a cycle of imports: ${cycle.join(' > ')}`)
  return found.filter((breach) => breach !== undefined)
}
