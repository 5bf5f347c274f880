// Replays a million lines of 300,010 clients, made as they are read, and prints by how much the process grew after the
// first 300,000. With --keep it is a broken twin, which keeps what it reads, and shows it by 450,000.
import { command } from '../../dist/cli/command.js'

const kept = process.argv.includes('--keep') ? [] : undefined
const [LINES, CLIENTS, WARM] = [kept === undefined ? 1_000_000 : 450_000, 400_000, 300_000]
const two = (number) => String(number).padStart(2, '0')
let [base, most, made] = [0, 0, 0]

async function* log() {
  while (made < LINES) {
    let text = ''
    for (let n = 0; n < 1_000; n++, made++) {
      const client = made % 4 === 0 ? made % 40 : (made * 7_919) % CLIENTS
      const second = Math.floor(made / 100)
      const time = `12/Mar/2024:${two(Math.floor(second / 3_600))}:${two(Math.floor(second / 60) % 60)}:${two(second % 60)}`
      text += `10.${client >> 16}.${(client >> 8) & 255}.${client & 255} - - [${time} +0000] "GET /page/${made % 977} HTTP/1.1" 200 512 "-" "Mozilla/5.0 (X11; Linux x86_64)"\n`
    }
    const chunk = Buffer.from(text)
    kept?.push(...[1, 2, 3, 4].map(() => Buffer.from(text, 'utf16le')))
    if (made === WARM) base = process.memoryUsage.rss()
    if (made > WARM) most = Math.max(most, process.memoryUsage.rss())
    yield chunk
  }
}

let out = ''
const startedMs = performance.now()
const status = await command(['replay', '--json', '--policy', 'token-bucket limit=60 per=1m', '--policy', 'sliding-window-log limit=20 window=1m', '-'], {
  out: (text) => (out += text),
  err: (text) => process.stderr.write(text),
  terminal: { isTTY: false },
  stdin: log(),
})
const seconds = (performance.now() - startedMs) / 1_000
const { requests, clients, clientsAtLeast } = JSON.parse(out)
console.log(JSON.stringify({ status, requests, clients, clientsAtLeast, grownMb: Math.round((most - base) / 1_048_576), baseMb: Math.round(base / 1_048_576), seconds }))
