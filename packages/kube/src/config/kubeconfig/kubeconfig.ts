import { delimiter, join, resolve } from 'node:path'
import { asError } from '../../errors/errors.ts'
import { isMissing } from '../files.ts'
import { kubeconfigError } from './kubeconfig-error.ts'
import { parseKubeconfig } from './kubeconfig-file.ts'
import type { Files } from '../files.ts'
import type { Kubeconfig } from './kubeconfig-file.ts'

/** The paths of the kubeconfigs to read. */
export interface KubeconfigPaths {
  readonly paths: readonly string[]
  /** A single requested file must exist; files of a list may be missing. */
  readonly required: boolean
}

/** As kubectl: the requested file, else the list in `KUBECONFIG`, else `~/.kube/config`. */
export function kubeconfigPaths(
  env: Readonly<Record<string, string | undefined>>,
  home: string,
  asked?: string,
): KubeconfigPaths {
  if (asked) return { paths: [resolve(asked)], required: true }
  const listed = (env['KUBECONFIG'] ?? '').split(delimiter).filter((path) => path !== '')
  if (listed.length > 0) return { paths: [...new Set(listed.map((path) => resolve(path)))], required: false }
  return { paths: [join(home, '.kube', 'config')], required: false }
}

/** Reads and merges the files; undefined if none exists. */
export async function readKubeconfigs(files: Files, where: KubeconfigPaths): Promise<Kubeconfig | undefined> {
  const found: Kubeconfig[] = []
  for (const path of where.paths) {
    const text = await readOne(files, path, where.required)
    if (text !== undefined) found.push(await parseKubeconfig(text, path))
  }
  return found.length === 0 ? undefined : mergeKubeconfigs(found)
}

/** The first entry of a name and the first current-context win. */
export function mergeKubeconfigs(configs: readonly Kubeconfig[]): Kubeconfig {
  return {
    currentContext: configs.find((config) => config.currentContext !== undefined)?.currentContext,
    clusters: mergeMaps(configs.map((config) => config.clusters)),
    users: mergeMaps(configs.map((config) => config.users)),
    contexts: mergeMaps(configs.map((config) => config.contexts)),
  }
}

function mergeMaps<T>(maps: readonly ReadonlyMap<string, T>[]): ReadonlyMap<string, T> {
  const merged = new Map<string, T>()
  for (const map of maps) {
    for (const [name, entry] of map) if (!merged.has(name)) merged.set(name, entry)
  }
  return merged
}

async function readOne(files: Files, path: string, required: boolean): Promise<string | undefined> {
  try {
    return await files.read(path)
  } catch (error) {
    if (!isMissing(error)) {
      throw kubeconfigError(
        'UNREADABLE',
        `The kubeconfig ${path} cannot be read (${asError(error).message}): make it readable for this user or point KUBECONFIG at another file.`,
        error,
      )
    }
    if (!required) return undefined
    throw kubeconfigError('NOT_FOUND', `There is no kubeconfig at ${path}: correct the path or create the file.`, error)
  }
}
