import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  root: fileURLToPath(new URL('..', import.meta.url)),
  test: {
    include: ['test/**/*.test.ts'],
    // Each file in a process of its own: tests start worker threads, and a worker's time-out may not hide in another's.
    pool: 'forks',
    maxWorkers: 3,
    // What is built runs as it is, not as vite would write it anew.
    server: { deps: { external: [/\/dist\//, /\/hotbucket-twin-/] } },
    // A bound that only a hang reaches; no test is timed.
    testTimeout: 180_000,
    hookTimeout: 180_000,
  },
})
