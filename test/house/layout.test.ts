import { existsSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { isTestSource, packageSources, root } from './sources.ts'

/** Source files per folder, tests not counted: a folder with more needs subfolders by concept. */
const MAX_FILES_PER_FOLDER = 20

const OPERATOR_FILES = [
  'index.ts',
  'operator.ts',
  'config.ts',
  'metrics.ts',
  'rbac.ts',
  'api',
  'controllers',
  'testing',
]
const CONTROLLER_FILES = ['controller.ts', 'plan.ts', 'status.ts']

const sources = packageSources()

/** Packages that define an operator; runtime and http only provide the model. */
const operators = [
  ...new Set(
    sources
      .filter(({ path: file, text }) => !isTestSource(file) && /\bdefineOperator\(/.test(text))
      .map(({ path: file }) => file.split('/')[1] ?? ''),
  ),
].filter((name) => !['runtime', 'http', 'tenure'].includes(name))

function missing(folder: string, names: readonly string[]): readonly string[] {
  return names.map((name) => `${folder}/${name}`).filter((file) => !existsSync(path.join(root, file)))
}

describe('the layout of the packages', () => {
  test(`no folder has more than ${MAX_FILES_PER_FOLDER} source files`, () => {
    const counts = Map.groupBy(
      sources.filter(({ path: file }) => !isTestSource(file)),
      ({ path: file }) => path.posix.dirname(file),
    )
    const full = [...counts].filter(([, files]) => files.length > MAX_FILES_PER_FOLDER)
    expect(full.map(([folder, files]) => `${folder}: ${files.length} files`)).toEqual([])
  })

  test('every operator has the same files and folders', () => {
    const wrong = operators.flatMap((name) => {
      const folder = `packages/${name}/src`
      const controllers = path.join(root, folder, 'controllers')
      const kinds = existsSync(controllers) ? readdirSync(controllers) : []
      return [
        ...missing(folder, OPERATOR_FILES),
        ...kinds.flatMap((kind) => missing(`${folder}/controllers/${kind}`, CONTROLLER_FILES)),
      ]
    })
    expect(wrong).toEqual([])
  })
})
