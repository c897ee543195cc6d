import { parseImage } from '@tenure/kube/model'
import { type Engine, isAlpine } from './engine.ts'

/** The major version of an image or of a bare version; undefined if it cannot be told, as for `latest` or a digest. */
export function majorOf(engine: Engine, imageOrVersion: string): string | undefined {
  if (/^\d[^/:@]*$/.test(imageOrVersion)) return engine.majorOf(imageOrVersion)
  const tag = parseImage(imageOrVersion)?.tag
  return tag === undefined ? undefined : engine.majorOf(tag)
}

/**
 * - `same`: the images are equal.
 * - `minor`: the data stays usable.
 * - `major`: the row's owner allows a change that may make it unusable.
 */
export type ImageChange = 'same' | 'minor' | 'major' | { readonly refused: string }

export interface ImageChangeOptions {
  /** `config.allow_major_upgrade`. Default false. */
  readonly isMajorAllowed?: boolean
  /** The major versions of images whose tags do not tell them. */
  readonly majors?: { readonly from?: string | undefined; readonly to?: string | undefined }
}

/** Whether a running database may change its image. */
export function versionChange(
  engine: Engine,
  from: string,
  to: string,
  { isMajorAllowed = false, majors = {} }: ImageChangeOptions = {},
): ImageChange {
  if (from === to) return 'same'
  const problem = versionProblem(engine, [from, majors.from], [to, majors.to])
  if (problem === undefined) return 'minor'
  if (isMajorAllowed) return 'major'
  return {
    refused: `The image ${from} is not replaced by ${to}: ${problem}. Dump and restore into a new database, or set allow_major_upgrade at your own risk.`,
  }
}

type StatedImage = readonly [image: string, major: string | undefined]

function versionProblem(engine: Engine, [from, was]: StatedImage, [to, becomes]: StatedImage): string | undefined {
  const before = majorOf(engine, from) ?? was
  const after = majorOf(engine, to) ?? becomes
  if (after === undefined) return `the ${engine.title} version of ${to} cannot be told`
  if (before === undefined) return `the ${engine.title} version of ${from} cannot be told`
  if (before !== after) return `data of ${engine.title} ${before} is not usable by ${engine.title} ${after} as it is`
  if (engine.isBoundToVariant && isAlpine(from) !== isAlpine(to)) {
    return 'an Alpine image and a Debian image sort texts differently and own their files differently'
  }
  return undefined
}
