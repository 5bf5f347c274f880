/**
 * Reads reports of test runs, the later over the earlier.
 *
 *   died REPORT              the files whose process died before their tests had ended, a line each
 *   totals STATUS REPORT...  the totals, alone on the last line; exits with 1 where anything failed
 */
import { readFileSync } from 'node:fs'
import { relative } from 'node:path'

const [what, ...rest] = process.argv.slice(2)
const resultsOf = (report) => JSON.parse(readFileSync(report, 'utf8')).testResults
const died = ({ assertionResults }) => assertionResults.some(({ status }) => status === 'pending')

if (what === 'died') {
  try {
    for (const file of resultsOf(rest[0]).filter(died)) console.log(relative(process.cwd(), file.name))
  } catch {
    // No report, so the run itself failed: the totals say so.
  }
} else {
  const [status, ...reports] = rest
  let [passed, failed, skipped] = [0, 0, 0]
  try {
    const files = new Map(reports.flatMap(resultsOf).map((file) => [file.name, file]))
    for (const file of files.values()) {
      let failedHere = 0
      for (const test of file.assertionResults) {
        if (test.status === 'passed') passed++
        else if (test.status === 'failed' || test.status === 'pending') failedHere++
        else skipped++
      }
      // A file that failed without a failed test: it did not load, or a hook threw.
      if (file.status === 'failed' && failedHere === 0) failedHere = 1
      failed += failedHere
    }
  } catch (error) {
    console.log(`no report: ${error}`)
  }
  if (skipped > 0) console.log(`${skipped} skipped`)
  // The build, the type check, or an error outside all tests.
  if (status !== '0' && failed === 0) failed = 1
  if (passed + failed === 0) failed = 1
  console.log(`${passed} passed, ${failed} failed`)
  process.exitCode = failed > 0 ? 1 : 0
}
