// npm run test:cluster: the tests on a real Kubernetes cluster, which is built once, started and stopped. A failed test
// is run once more, alone: if it passes then, it is listed as flaky and does not fail the run.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { failuresOf, patternOf } from './failed-tests.ts'
import { root, runStep } from './run.ts'

const args = process.argv.slice(2)
const folder = mkdtempSync(path.join(tmpdir(), 'tenure-cluster-tests-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))

const report = path.join(folder, 'report.json')
const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`]
const code = await cluster('cluster', [...reporters, ...args])
if (code !== 0) process.exit(await retry(readReport()))

function cluster(name: string, more: readonly string[]): Promise<number> {
  return runStep({ name, tool: 'vitest', args: ['run', '--project', 'cluster', ...more] })
}

function readReport(): string | undefined {
  try {
    return readFileSync(report, 'utf8')
  } catch {
    return undefined
  }
}

/** The exit code of the run: zero if every failed test passes when it runs alone. */
async function retry(text: string | undefined): Promise<number> {
  const failures = text === undefined ? [] : failuresOf(text, root)
  if (failures.length === 0) return code
  const flaky: string[] = []
  for (const failure of failures) {
    const title = failure.test === undefined ? failure.file : `${failure.file} > ${failure.test}`
    const only = failure.test === undefined ? [] : ['--testNamePattern', patternOf(failure.test)]
    if ((await cluster(`once more, alone: ${title}`, [failure.file, ...only])) !== 0) return code
    flaky.push(title)
  }
  console.log(`\nflaky (failed, then passed alone; fix the race):\n${flaky.map((title) => `  ${title}`).join('\n')}`)
  return 0
}
