import type { PolicyRule } from '@tenure/runtime'
import { dump } from 'js-yaml'

/** Rules of a role, and the values under which the chart grants them. */
export interface RulePart {
  /** A condition of a template: `.Values.claims.rbac.secrets`. Default: always. */
  readonly when?: string
  readonly rules: readonly PolicyRule[]
  /** Names the list of values whose items replace the group and the resource of the rules. Default: none. */
  readonly each?: string
}

/** The group and resource that stand for those of an item of `each`. */
export const PLACEHOLDER = { group: 'GROUP', plural: 'PLURAL' } as const

/** Returns the permissions of `rules` that `base` lacks. */
export function added(rules: readonly PolicyRule[], base: readonly PolicyRule[]): readonly PolicyRule[] {
  const given = new Set(base.flatMap(permissionsOf))
  return rules.flatMap((rule) => {
    const verbs = rule.verbs.filter((verb) =>
      permissionsOf({ ...rule, verbs: [verb] }).some((each) => !given.has(each)),
    )
    return verbs.length === 0 ? [] : [{ ...rule, verbs }]
  })
}

/** One line per verb on a resource. */
export function permissionsOf(rule: PolicyRule): readonly string[] {
  const { apiGroups = [], resources = [], resourceNames = [''], verbs } = rule
  return apiGroups.flatMap((group) =>
    resources.flatMap((resource) =>
      resourceNames.flatMap((name) => verbs.map((verb) => [verb, group, resource, name].join(' '))),
    ),
  )
}

/** Removes a verb on a resource. */
export function without(rules: readonly PolicyRule[], verb: string, resource: string): readonly PolicyRule[] {
  return rules
    .map((rule) =>
      rule.resources?.includes(resource) ? { ...rule, verbs: rule.verbs.filter((each) => each !== verb) } : rule,
    )
    .filter(({ verbs }) => verbs.length > 0)
}

/** A named template that prints the rules that the values ask for. */
export function rulesTemplate(name: string, parts: readonly RulePart[]): string {
  return `{{- define "${name}" -}}\n${parts.map(textOf).join('')}{{- end }}\n`
}

function textOf({ when, rules, each }: RulePart): string {
  if (rules.length === 0) return ''
  const text = dump(rules, { lineWidth: -1, noRefs: true })
  const body = each === undefined ? text : `{{- range ${each} }}\n${itemized(text)}{{- end }}\n`
  return when === undefined ? body : `{{- if ${when} }}\n${body}{{- end }}\n`
}

const itemized = (text: string): string =>
  text
    .replaceAll(`- ${PLACEHOLDER.group}\n`, '- {{ .group | quote }}\n')
    .replaceAll(`- ${PLACEHOLDER.plural}\n`, '- {{ .plural | quote }}\n')
