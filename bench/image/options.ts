import { readFileSync } from 'node:fs'
import path from 'node:path'
import { parseDockerfile } from '../../test/image/dockerfile.ts'

const DOCKERFILE = path.resolve(import.meta.dirname, '../../deploy/image/Dockerfile')

/** The options with which the image starts Node. */
export function imageOptions(): readonly string[] {
  const stages = parseDockerfile(readFileSync(DOCKERFILE, 'utf8'))
  const entrypoint = stages.at(-1)?.instructions.find(({ name }) => name === 'ENTRYPOINT')?.exec ?? []
  return entrypoint.filter((part) => part.startsWith('--'))
}
