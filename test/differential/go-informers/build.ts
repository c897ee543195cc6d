/** The program that follows a cluster with client-go's informers, built once and cached. */
import path from 'node:path'

import { buildGo } from '../../cluster/build-cache.ts'
import { type Progress, stderrProgress } from '../../cluster/progress.ts'

/** Builds it if need be, and answers its path. Default progress: standard error. */
export async function buildInformers(progress: Progress = stderrProgress): Promise<string> {
  const build = {
    label: 'go-informers',
    module: import.meta.dirname,
    programs: [{ name: 'informers', package: '.' }],
    ldflags: ['-s -w'],
  }
  return path.join(await buildGo(build, new Set(['informers']), progress), 'bin', 'informers')
}
