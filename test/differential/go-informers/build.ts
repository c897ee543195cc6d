/** Builds and caches the program that runs client-go's informers. */
import path from 'node:path'

import { buildGo } from '../../cluster/build-cache.ts'
import { type Progress, stderrProgress } from '../../cluster/progress.ts'

/** Builds it if necessary and returns its path. Default progress: standard error. */
export async function buildInformers(progress: Progress = stderrProgress): Promise<string> {
  const build = {
    label: 'go-informers',
    module: import.meta.dirname,
    programs: [{ name: 'informers', package: '.' }],
    ldflags: ['-s -w'],
  }
  return path.join(await buildGo(build, new Set(['informers']), progress), 'bin', 'informers')
}
