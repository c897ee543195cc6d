/** The command `gotemplate`, for authors of templates. */
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { parseArgs } from 'node:util'

import { TemplateError } from '../errors.ts'
import { renderChartFile } from '../helm/chart-file.ts'
import { toBytes } from '../values/bytes.ts'
import { withSettings } from './settings.ts'
import { serveStdio } from './stdio.ts'

const USAGE = `Prints what Helm would render.

usage: gotemplate FILE [--values FILE]... [--set a.b=c]... [--release NAME] [--namespace NS]
       gotemplate --stdio

  --values, -f FILE  values as YAML; may be given more than once, later files win
  --set KEY=VALUE    sets one value, or several separated by commas
  --release NAME     the name of the release and of the chart (default: release-name)
  --namespace, -n NS the namespace of the release (default: default)
  --stdio            reads lines {"template","values"} and answers {"output"} or {"error"}
`

const OPTIONS = {
  values: { type: 'string', short: 'f', multiple: true },
  set: { type: 'string', multiple: true },
  release: { type: 'string', default: 'release-name' },
  namespace: { type: 'string', short: 'n', default: 'default' },
  stdio: { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false },
} as const

/** Returns the exit code. */
async function main(args: readonly string[]): Promise<number> {
  const { values: options, positionals } = parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true })
  if (options.stdio) {
    await serveStdio()
    return 0
  }
  const [file] = positionals
  if (options.help || file === undefined || positionals.length > 1) {
    process.stdout.write(USAGE)
    return options.help ? 0 : 2
  }
  const values = withSettings(
    (options.values ?? []).map((path) => readFileSync(path, 'utf8')),
    options.set ?? [],
  )
  const output = renderChartFile(readFileSync(file, 'utf8'), values, {
    release: options.release,
    namespace: options.namespace,
    file: `templates/${basename(file)}`,
  })
  process.stdout.write(toBytes(output))
  return 0
}

try {
  process.exitCode = await main(process.argv.slice(2))
} catch (error) {
  const isExpected = error instanceof TemplateError || (error as NodeJS.ErrnoException).code !== undefined
  if (!isExpected) throw error
  process.stderr.write(`Error: ${(error as Error).message}\n`)
  process.exitCode = 1
}
