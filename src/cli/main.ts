#!/usr/bin/env node
/** `hotbucket`, the tool. */
import { addAbortSignal } from 'node:stream'
import { command } from './command.ts'

// A reader that has seen enough (`| head`) closes the pipe: no fault of ours.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
})

// The first Ctrl+C ends the reading; a second one ends the process, as ever.
const interrupt = new AbortController()
process.once('SIGINT', () => interrupt.abort())

process.exitCode = await command(process.argv.slice(2), {
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
  terminal: process.stderr,
  stdin: addAbortSignal(interrupt.signal, process.stdin),
  stop: interrupt.signal,
})
