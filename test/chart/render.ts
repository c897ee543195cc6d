/** The Helm chart, rendered by our own engine as Helm renders it. */
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'

import { renderChartFile } from '@tenure/gotemplate'
import type { KubeObject } from '@tenure/kube'
import { load, loadAll } from 'js-yaml'

export const CHART = path.resolve(import.meta.dirname, '../../deploy/chart')

export interface Values {
  readonly [key: string]: unknown
}

export interface RenderOptions {
  /** Default: `tenure`. */
  readonly release?: string
  /** Default: `tenure-system`. */
  readonly namespace?: string
  /** Further API versions of the cluster: `monitoring.coreos.com/v1/ServiceMonitor`. Default: none. */
  readonly apiVersions?: readonly string[] | undefined
}

export const read = (...parts: readonly string[]): string => readFileSync(path.join(CHART, ...parts), 'utf8')

export const defaultChartValues = (): Values => load(read('values.yaml')) as Values

/** Merges values as Helm does: mappings are merged, everything else is replaced, null removes. */
export function merged(base: Values, changes: Values): Values {
  const result: Record<string, unknown> = { ...base }
  for (const [key, value] of Object.entries(changes)) {
    const old = base[key]
    if (value === null) delete result[key]
    else result[key] = isValues(value) && isValues(old) ? merged(old, value) : value
  }
  return result
}

const isValues = (value: unknown): value is Values =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const files = (folder: string): readonly string[] =>
  readdirSync(path.join(CHART, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(CHART, path.join(entry.parentPath, entry.name)))
    .toSorted()

/** The output of each template, by its path. */
export function renderTexts(changes: Values = {}, options: RenderOptions = {}): ReadonlyMap<string, string> {
  const values = merged(defaultChartValues(), changes)
  const templates = files('templates')
  const named = templates
    .filter((file) => file.endsWith('.tpl'))
    .map((file) => read(file))
    .join('')
  const others = new Map(files('files').map((file) => [file, read(file)]))
  const { release = 'tenure', namespace = 'tenure-system', apiVersions = [] } = options
  const rendered = templates
    .filter((file) => !file.endsWith('.tpl'))
    .map((file): [string, string] => {
      const text = renderChartFile(named + read(file), values, {
        release,
        namespace,
        chart: 'tenure',
        file,
        files: others,
        capabilities: { kubeVersion: 'v1.36.3', apiVersions: ['v1', ...apiVersions] },
      })
      return [file, text]
    })
  return new Map(rendered)
}

/** The objects of the chart. */
export function renderObjects(changes: Values = {}, options: RenderOptions = {}): readonly KubeObject[] {
  return [...renderTexts(changes, options)]
    .filter(([file]) => file.endsWith('.yaml'))
    .flatMap(([, text]) => (loadAll(text) as readonly (KubeObject | null)[]).filter((object) => object !== null))
}
