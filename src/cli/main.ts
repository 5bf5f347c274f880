#!/usr/bin/env node
/** `hotbucket`, the tool. */
import { command } from './command.ts'

// A reader that has seen enough (`| head`) closes the pipe: no fault of ours.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
})

process.exitCode = await command(process.argv.slice(2), {
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
  terminal: process.stderr,
  stdin: process.stdin,
})
