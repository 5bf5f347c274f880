import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

/** Files with a process of their own: they look at what belongs to a process, or fill its memory. */
const alone = [
  'test/{coarse-clock,demo,still,stress}.test.ts',
  'test/cases/{clock,keys,leak-lifecycle,overflow}.test.ts',
  'test/http/{errors,fallback,lifecycle}.test.ts',
  'test/{explorer,page,piscina}/*.test.ts',
  'test/threads/coarse-clock.test.ts',
]

export default defineConfig({
  root: fileURLToPath(new URL('..', import.meta.url)),
  test: {
    pool: 'forks',
    maxWorkers: 3,
    // What is built runs as it is, not as vite would write it anew.
    server: { deps: { external: [/\/dist\//, /\/hotbucket-twin-/] } },
    // A bound that only a hang reaches; no test is timed.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    projects: [
      { extends: true, test: { name: 'alone', include: alone } },
      { extends: true, test: { name: 'together', include: ['test/**/*.test.ts'], exclude: alone, isolate: false } },
    ],
  },
})
