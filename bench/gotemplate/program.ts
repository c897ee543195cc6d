/**
 * Measures the template engine in a process of its own, and prints one line of JSON. With `import` it only imports the
 * package; with `render` it reads `{"template","values"}` from standard input, as the peer does.
 */
import { run } from '../programs/run.ts'

/** Each operation runs for this long, after a quarter of it for warm-up, as in the peer. */
const PERIOD_MS = 1000

/** The chart of the peer. */
const CHART = { release: 'claim-test', timeZone: 'UTC' } as const

await run({ import: async () => ({ importCpuMs: (await importPackage()).cpuMs }), render: measureRender })

async function importPackage() {
  const before = process.cpuUsage()
  const gotemplate = await import('@tenure/gotemplate')
  const { user, system } = process.cpuUsage(before)
  return { gotemplate, cpuMs: (user + system) / 1000 }
}

async function measureRender(): Promise<object> {
  const { gotemplate } = await importPackage()
  const { readYaml } = await import('@tenure/yaml')
  const input = process.getBuiltinModule('node:fs').readFileSync(0, 'utf8')
  const { template, values: text } = JSON.parse(input) as { readonly template: string; readonly values: string }
  const { value: values } = readYaml(text)
  const parsed = gotemplate.parseChartFile(template, CHART)
  return {
    parse: nanosecondsEach(() => gotemplate.parseChartFile(template, CHART)),
    render: nanosecondsEach(() => gotemplate.renderChartFile(parsed, values, CHART)),
  }
}

function nanosecondsEach(operation: () => unknown): number {
  const warmUpEnd = performance.now() + PERIOD_MS / 4
  while (performance.now() < warmUpEnd) operation()
  const started = performance.now()
  let count = 0
  while (performance.now() < started + PERIOD_MS) {
    operation()
    count++
  }
  return ((performance.now() - started) * 1e6) / count
}
