import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { root } from './sources.ts'

const { scripts } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as {
  readonly scripts: Readonly<Record<string, string>>
}

/** The programs of the repository besides `tenure`: those of npm run, and the generators. */
const programs = new Set([
  ...Object.values(scripts)
    .map((command) => /scripts\/launch\.mjs (\S+)/.exec(command)?.[1] ?? '')
    .filter((file) => file && !file.startsWith('packages/tenure/')),
  ...readdirSync(path.join(root, 'scripts'))
    .filter((file) => /^(?:generate-.*|screenshots)\.ts$/.test(file))
    .map((file) => `scripts/${file}`),
])

function run(file: string, ...args: readonly string[]): Promise<{ readonly code: unknown; readonly output: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, ['scripts/launch.mjs', file, ...args], { cwd: root }, (error, stdout, stderr) =>
      resolve({ code: error?.code ?? 0, output: stdout + stderr }),
    )
  })
}

test('every program of the repository has a help', () => {
  expect(programs.size).toBeGreaterThan(10)
  const silent = [...programs].filter((file) => {
    const text = readFileSync(path.join(root, file), 'utf8')
    return !/\b(?:programArguments|helpIfAsked|printHelp)\(/.test(text)
  })
  expect(silent).toEqual([])
})

test('the help is printed instead of any work, and a wrong option is one line with exit code 2', async () => {
  const help = await run('test/cluster/cli.ts', '--help')
  expect(help).toEqual({ code: 0, output: expect.stringMatching(/^Usage: npm run cluster -- [^]*\n {2}-h, --help/) })
  expect((await run('scripts/test.ts', '-h')).output).toMatch(/^Usage: npm test /)
  expect(await run('test/cluster/cli.ts', 'up', '--colour')).toEqual({
    code: 2,
    output: "Unknown option '--colour'. See --help.\n",
  })
})
