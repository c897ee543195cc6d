import { applicationDefinition } from '@tenure/applications'
import type { CustomResourceDefinition } from '@tenure/kube/kinds'
import { leaseControllerDefinition } from '@tenure/leases'
import { dump } from 'js-yaml'

/** The definition of each operator that has one, by the operator's key. */
const DEFINITIONS: readonly (readonly [key: string, definition: CustomResourceDefinition])[] = [
  ['applications', applicationDefinition],
  ['leaseControllers', leaseControllerDefinition],
]

const KEEP = '    {{- if .Values.crds.keep }}\n    helm.sh/resource-policy: keep\n    {{- end }}\n'

/** The template of the CustomResourceDefinitions: part of the release, so that an upgrade upgrades them. */
export function definitionsTemplate(): string {
  return DEFINITIONS.map(([key, definition]) => {
    const { annotations = {}, ...metadata } = definition.metadata ?? {}
    const head = { apiVersion: definition.apiVersion, kind: definition.kind }
    const lines = [
      `{{- if and .Values.${key}.enabled (eq .Values.crds.installedBy "chart") }}\n---\n`,
      text(head),
      'metadata:\n',
      indented(text(metadata)),
      '  labels:\n    {{- include "tenure.labels" . | nindent 4 }}\n',
      '  annotations:\n',
      KEEP,
      Object.keys(annotations).length === 0 ? '' : indented(indented(text(annotations))),
      text({ spec: definition.spec }),
      '{{- end }}\n',
    ]
    return lines.join('')
  }).join('')
}

const text = (value: object): string =>
  // Two braces would begin an action.
  dump(value, { lineWidth: -1, noRefs: true }).replaceAll('{{', '{{ "{{" }}')

const indented = (yaml: string): string => yaml.replaceAll(/^(?=.)/gm, '  ')
