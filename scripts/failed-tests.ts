import path from 'node:path'

/** A test that failed; without `test` the whole file did, in a hook or while it was loaded. */
export interface FailedTest {
  /** From the root of the repository. */
  readonly file: string
  /** The titles of its groups and its own, as vitest joins them for its filter. */
  readonly test?: string
}

interface Report {
  readonly testResults: readonly {
    readonly name: string
    readonly status: string
    readonly assertionResults: readonly {
      readonly ancestorTitles: readonly string[]
      readonly title: string
      readonly status: string
    }[]
  }[]
}

/** The failures of a run, from vitest's JSON report. */
export function failuresOf(report: string, root: string): readonly FailedTest[] {
  const { testResults } = JSON.parse(report) as Report
  return testResults.flatMap(({ name, status, assertionResults }): readonly FailedTest[] => {
    const file = path.relative(root, name)
    const failed = assertionResults.filter((test) => test.status === 'failed')
    if (failed.length > 0)
      return failed.map(({ ancestorTitles, title }) => ({ file, test: [...ancestorTitles, title].join(' > ') }))
    return status === 'failed' ? [{ file }] : []
  })
}

/** Whether a run, by its report, passed: some test ran, and none failed. A run whose filter matches nothing did not pass. */
export function hasPassed(report: string): boolean {
  const { testResults } = JSON.parse(report) as Report
  const ran = testResults.flatMap(({ assertionResults }) => assertionResults.map(({ status }) => status))
  return ran.includes('passed') && !ran.includes('failed') && testResults.every(({ status }) => status !== 'failed')
}

/** A pattern that matches one title. Reports shorten the values in a title; the filter sees them whole. */
export function patternOf(title: string): string {
  return `^${title.split('…').map(RegExp.escape).join('.*')}$`
}
