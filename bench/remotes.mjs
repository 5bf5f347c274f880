/**
 * Limiters that a worker reaches by asking: the main thread over a MessagePort, a Redis over loopback. Each is
 * given its cheapest form: a string out and a boolean back in order, with no ids; one INCR, the least that any
 * limiter on Redis does.
 */
import { execFileSync, spawn } from 'node:child_process'
import { createServer } from 'node:net'
import { MessageChannel } from 'node:worker_threads'

/** The worker's end: `ask(key, answer)` calls `answer(admitted)` later. */
async function connect(remote) {
  if (remote.port !== undefined) {
    const { port } = remote
    const waiting = []
    let first = 0
    port.on('message', (admitted) => {
      const answer = waiting[first++]
      if (first === 1_024) waiting.splice(0, first), (first = 0)
      answer(admitted)
    })
    return (key, answer) => {
      waiting.push(answer)
      port.postMessage(key)
    }
  }
  const { createClient } = await import('@redis/client')
  const client = createClient({ socket: { host: '127.0.0.1', port: remote.redisPort } })
  await client.connect()
  return (key, answer) => void client.incr(`${remote.prefix}${key}`).then((count) => answer(count <= remote.burst))
}

let ask

/** Asks for `ms` with `flight` questions under way at once; from the first question to the last answer. */
export async function pump(remote, keys, { ms, flight }) {
  ask ??= await connect(remote)
  let batch = keys.next()
  let [at, calls, answers, admitted] = [0, 0, 0, 0]
  const begun = process.hrtime.bigint()
  let over = false
  await new Promise((resolve) => {
    const one = () => {
      if (at === batch.length) [batch, at] = [keys.next(), 0]
      calls++
      ask(batch[at++], answered)
    }
    const answered = (yes) => {
      answers++
      if (yes) admitted++
      over ||= process.hrtime.bigint() - begun > ms * 1_000_000
      if (!over) one()
      else if (answers === calls) resolve()
    }
    for (let i = 0; i < flight; i++) one()
  })
  return { calls, admitted, busyNs: Number(process.hrtime.bigint() - begun) }
}

/** The main thread's end of a port, answering from `limiter`. */
export function portTo(limiter) {
  const { port1, port2 } = new MessageChannel()
  port1.on('message', (key) => port1.postMessage(limiter.allow(key)))
  return { remote: { port: port2 }, transferList: [port2], close: () => port1.close() }
}

async function freePort() {
  const server = createServer()
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address()
  await new Promise((resolve) => server.close(resolve))
  return port
}

/** A redis-server of this run's own, or undefined where there is none on the PATH. */
export async function startRedis() {
  let version
  try {
    version = /v=(\S+)/.exec(execFileSync('redis-server', ['--version'], { encoding: 'utf8' }))[1]
  } catch {
    return undefined
  }
  const port = await freePort()
  const options = ['--port', `${port}`, '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no']
  const server = spawn('redis-server', options, { stdio: ['ignore', 'pipe', 'inherit'] })
  await new Promise((resolve, reject) => {
    server.once('exit', () => reject(new Error('redis-server ended before it was ready')))
    server.stdout.on('data', (text) => `${text}`.includes('eady to accept connections') && resolve())
  })
  return {
    version,
    port,
    async stop() {
      const ended = new Promise((resolve) => server.once('exit', resolve))
      server.kill()
      await ended
    },
  }
}
