/** `npm start`. */
import { once } from 'node:events'
import { command } from './command.ts'

process.exitCode = await command(process.argv.slice(2), {
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
  terminal: process.stderr,
  worker: new URL('./worker.js', import.meta.url),
  liveWorker: new URL('./live-worker.js', import.meta.url),
  stopped: () => Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]),
})
