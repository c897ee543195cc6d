import type { LabelSelector } from '@tenure/kube'
import type { JsonObject } from '@tenure/kube/model'
import {
  asArray,
  asJsonObject,
  asString,
  dns1035Label,
  dnsSubdomain,
  isJsonObject,
  qualifiedName,
  valueAtPath,
} from '@tenure/kube/model'

import { append } from '../../model/append.ts'
import { asJsonObjects, filled, isUnset, repeats, withinField, withinItems } from '../../model/json.ts'
import { compileCondition } from '../../schema/cel/conditions.ts'
import { duplicate, invalidEach, invalidValue, notSupported, required, tooMany } from '../../schema/field-errors.ts'
import type { FieldError } from '../../schema/types.ts'
import { createdAt, nameOf } from '../common/columns.ts'
import type { KindTable } from '../common/kind-table.ts'
import { portNumber } from '../common/names.ts'
import { validateSelector } from '../common/selectors.ts'

const GROUP = 'admissionregistration.k8s.io'

/** Kinds of admissionregistration.k8s.io. */
export const ADMISSION_REGISTRATION: KindTable = {
  [`mutatingwebhookconfigurations.${GROUP}`]: entry(true),
  [`validatingwebhookconfigurations.${GROUP}`]: entry(false),
  [`validatingadmissionpolicies.${GROUP}`]: {
    columns: (policy, age) => [
      nameOf(policy),
      asArray(valueAtPath(policy, 'spec', 'validations')).length,
      paramKind(policy),
      age(createdAt(policy)),
    ],
    rules: { defaults: (policy) => withinField(policy, 'spec', defaultPolicy) },
  },
  [`mutatingadmissionpolicies.${GROUP}`]: {
    columns: (policy, age) => [
      nameOf(policy),
      asArray(valueAtPath(policy, 'spec', 'mutations')).length,
      paramKind(policy),
      age(createdAt(policy)),
    ],
    rules: { defaults: (policy) => withinField(policy, 'spec', defaultPolicy) },
  },
  [`validatingadmissionpolicybindings.${GROUP}`]: { columns: bindingColumns, rules: { defaults: defaultBinding } },
  [`mutatingadmissionpolicybindings.${GROUP}`]: { columns: bindingColumns, rules: { defaults: defaultBinding } },
}

function paramKind(policy: JsonObject): string {
  const kind = valueAtPath(policy, 'spec', 'paramKind')
  return isJsonObject(kind) ? `${asString(kind['apiVersion'])}/${asString(kind['kind'])}` : '<unset>'
}

function bindingColumns(binding: JsonObject, age: (time: unknown) => string): readonly unknown[] {
  const param = valueAtPath(binding, 'spec', 'paramRef')
  const namespace = asString(valueAtPath(param, 'namespace')) || '*'
  const shown = isJsonObject(param)
    ? param['name']
      ? `${namespace}/${asString(param['name'])}`
      : namespace
    : '<unset>'
  return [nameOf(binding), asString(valueAtPath(binding, 'spec', 'policyName')), shown, age(createdAt(binding))]
}

function defaultMatch(given: JsonObject): JsonObject {
  let match = filled(given, { matchPolicy: 'Equivalent', namespaceSelector: {}, objectSelector: {} })
  for (const list of ['resourceRules', 'excludeResourceRules']) {
    match = withinItems(match, list, (rule) => filled(rule, { scope: '*' }))
  }
  return match
}

const defaultPolicy = (spec: JsonObject): JsonObject =>
  withinField(filled(spec, { failurePolicy: 'Fail' }), 'matchConstraints', defaultMatch)

function defaultBinding(binding: JsonObject): JsonObject {
  return withinField(binding, 'spec', (spec) => withinField(spec, 'matchResources', defaultMatch))
}

function entry(isMutating: boolean): KindTable[string] {
  return {
    columns: (object, age) => [nameOf(object), asArray(object['webhooks']).length, age(createdAt(object))],
    rules: {
      defaults: (object) => withinItems(object, 'webhooks', (webhook) => defaultWebhook(webhook, isMutating)),
      validate: (object) => validateWebhooks(object, isMutating),
    },
  }
}

function defaultWebhook(given: JsonObject, isMutating: boolean): JsonObject {
  const webhook = filled(given, {
    failurePolicy: 'Fail',
    matchPolicy: 'Equivalent',
    namespaceSelector: {},
    objectSelector: {},
    timeoutSeconds: 10,
    ...(isMutating && { reinvocationPolicy: 'Never' }),
  })
  const withRules = withinItems(webhook, 'rules', (rule) => filled(rule, { scope: '*' }))
  return withinField(withRules, 'clientConfig', (config) =>
    withinField(config, 'service', (service) => filled(service, { port: 443 })),
  )
}

function validateWebhooks(object: JsonObject, isMutating: boolean): FieldError[] {
  const names = new Set<string>()
  return asJsonObjects(object['webhooks']).flatMap((webhook, index) => {
    const field = `webhooks[${index}]`
    const errors = validateWebhook(webhook, field, isMutating)
    append(errors, validateReviewVersions(webhook['admissionReviewVersions'], `${field}.admissionReviewVersions`))
    const name = asString(webhook['name'])
    if (name && names.has(name)) errors.push(duplicate(`${field}.name`, name))
    names.add(name)
    return errors
  })
}

function choice(value: unknown, field: string, values: readonly string[]): FieldError[] {
  return isUnset(value) || values.includes(asString(value)) ? [] : [notSupported(field, value, values)]
}

function validateWebhook(webhook: JsonObject, field: string, isMutating: boolean): FieldError[] {
  const { name, sideEffects, timeoutSeconds, clientConfig } = webhook
  const errors = validateQualified(asString(name), `${field}.name`)
  asJsonObjects(webhook['rules']).forEach((rule, index) =>
    append(errors, validateRule(rule, `${field}.rules[${index}]`)),
  )
  errors.push(...choice(webhook['failurePolicy'], `${field}.failurePolicy`, ['Fail', 'Ignore']))
  errors.push(...choice(webhook['matchPolicy'], `${field}.matchPolicy`, ['Equivalent', 'Exact']))
  const effects = ['None', 'NoneOnDryRun']
  if (isUnset(sideEffects)) errors.push(required(`${field}.sideEffects`, `must specify one of ${effects.join(', ')}`))
  else errors.push(...choice(sideEffects, `${field}.sideEffects`, effects))
  if (typeof timeoutSeconds === 'number' && (timeoutSeconds > 30 || timeoutSeconds < 1)) {
    const detail = 'the timeout value must be between 1 and 30 seconds'
    errors.push(invalidValue(`${field}.timeoutSeconds`, timeoutSeconds, detail))
  }
  for (const selector of ['namespaceSelector', 'objectSelector']) {
    append(errors, validateSelector(webhook[selector] as LabelSelector | undefined, `${field}.${selector}`))
  }
  append(errors, validateConditions(asJsonObjects(webhook['matchConditions']), `${field}.matchConditions`))
  if (isMutating) {
    errors.push(...choice(webhook['reinvocationPolicy'], `${field}.reinvocationPolicy`, ['IfNeeded', 'Never']))
  }
  return [...errors, ...validateClientConfig(asJsonObject(clientConfig), `${field}.clientConfig`)]
}

const MAX_MATCH_CONDITIONS = 64

function validateConditions(conditions: readonly JsonObject[], field: string): FieldError[] {
  const errors: FieldError[] = []
  if (conditions.length > MAX_MATCH_CONDITIONS) errors.push(tooMany(field, conditions.length, MAX_MATCH_CONDITIONS))
  const names = new Set<string>()
  for (const [index, condition] of conditions.entries()) {
    const at = `${field}[${index}]`
    const [name, expression] = [asString(condition['name']), asString(condition['expression']).trim()]
    const { error } = expression ? compileCondition(expression) : {}
    if (!expression) errors.push(required(`${at}.expression`))
    else if (error !== undefined) errors.push(invalidValue(`${at}.expression`, expression, error))
    if (!name) errors.push(required(`${at}.name`))
    else errors.push(...invalidEach(`${at}.name`, name, qualifiedName(name)))
    if (name && names.has(name)) errors.push(duplicate(`${at}.name`, name))
    names.add(name)
  }
  return errors
}

function validateQualified(name: string, field: string): FieldError[] {
  if (!name) return [required(field)]
  const errors = invalidEach(field, name, dnsSubdomain(name))
  if (errors.length === 0 && name.split('.').length < 3) {
    errors.push(invalidValue(field, name, 'should be a domain with at least three segments separated by dots'))
  }
  return errors
}

const OPERATIONS = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE']

function validateRule(rule: JsonObject, field: string): FieldError[] {
  const errors: FieldError[] = []
  const list = (name: string): readonly string[] => asArray(rule[name]).map(asString)
  const alone = (name: string, what: string): void => {
    const values = list(name)
    if (values.length === 0) errors.push(required(`${field}.${name}`))
    if (values.length > 1 && values.includes('*')) {
      errors.push(invalidValue(`${field}.${name}`, values, `if '*' is present, must not specify other ${what}`))
    }
  }
  alone('operations', 'operations')
  list('operations').forEach((operation, index) => {
    if (!OPERATIONS.includes(operation))
      errors.push(notSupported(`${field}.operations[${index}]`, operation, OPERATIONS))
  })
  alone('apiGroups', 'API groups')
  alone('apiVersions', 'API versions')
  list('apiVersions').forEach((version, index) => {
    if (!version) errors.push(required(`${field}.apiVersions[${index}]`))
  })
  append(errors, validateResources(list('resources'), `${field}.resources`))
  return [...errors, ...choice(rule['scope'], `${field}.scope`, ['*', 'Cluster', 'Namespaced'])]
}

function validateResources(resources: readonly string[], field: string): FieldError[] {
  const errors: FieldError[] = resources.length === 0 ? [required(field)] : []
  const [wholeResources, wholeSubresources] = [new Set<string>(), new Set<string>()]
  let hasPlain = false
  resources.forEach((resource, index) => {
    if (!resource) {
      errors.push(required(`${field}[${index}]`))
      return
    }
    const slash = resource.indexOf('/')
    if (slash < 0) {
      hasPlain = resource !== '*'
      return
    }
    const [name, sub] = [resource.slice(0, slash), resource.slice(slash + 1)]
    const addError = (pattern: string): number =>
      errors.push(
        invalidValue(`${field}[${index}]`, resource, `if '${pattern}' is present, must not specify ${resource}`),
      )
    if (wholeResources.has(name)) addError(`${name}/*`)
    if (wholeSubresources.has(sub)) addError(`*/${sub}`)
    if (sub === '*') wholeResources.add(name)
    if (name === '*') wholeSubresources.add(sub)
  })
  if (resources.length > 1 && resources.includes('*/*')) {
    errors.push(invalidValue(field, resources, "if '*/*' is present, must not specify other resources"))
  }
  if (resources.includes('*') && hasPlain) {
    const detail = "if '*' is present, must not specify other resources without subresources"
    errors.push(invalidValue(field, resources, detail))
  }
  return errors
}

const URL_FORMAT = '; desired format: https://host[/path]'

/** Validates the client config of a webhook, also of the conversion webhook of a CRD. */
export function validateClientConfig({ url, service }: JsonObject, field: string): FieldError[] {
  if (isUnset(url) === !isJsonObject(service)) return [required(field, 'exactly one of url or service is required')]
  if (!isJsonObject(service)) return validateUrl(asString(url), `${field}.url`)
  const { name, namespace, port, path } = service
  const errors: FieldError[] = []
  if (!name) errors.push(required(`${field}.service.name`))
  if (!namespace) errors.push(required(`${field}.service.namespace`))
  const number = typeof port === 'number' ? port : 443
  const found = portNumber(number)
  if (found.length > 0)
    errors.push(invalidValue(`${field}.service.port`, number, `port is not valid: ${found.join(', ')}`))
  if (path && !asString(path).startsWith('/')) {
    errors.push(invalidValue(`${field}.service.path`, path, "must start with a '/'"))
  }
  return errors
}

function validateUrl(text: string, field: string): FieldError[] {
  const errors: FieldError[] = []
  const [, scheme = ''] = /^([a-zA-Z][a-zA-Z0-9+.-]*):/.exec(text) ?? []
  const url = URL.parse(text)
  if (scheme.toLowerCase() !== 'https')
    errors.push(invalidValue(field, scheme, `'https' is the only allowed URL scheme${URL_FORMAT}`))
  if (!url?.host) errors.push(invalidValue(field, '', `host must be specified${URL_FORMAT}`))
  if (!url) return errors
  if (url.username) errors.push(invalidValue(field, url.username, 'user information is not permitted in the URL'))
  if (url.hash) errors.push(invalidValue(field, url.hash.slice(1), 'fragments are not permitted in the URL'))
  if (url.search) errors.push(invalidValue(field, url.search.slice(1), 'query parameters are not permitted in the URL'))
  return errors
}

function validateReviewVersions(given: unknown, field: string): FieldError[] {
  const versions = asArray(given).map(asString)
  if (versions.length === 0) return [required(field, 'must specify one of v1, v1beta1')]
  const errors: FieldError[] = []
  const repeated = repeats(versions)
  versions.forEach((version, index) => {
    if (repeated.has(index)) errors.push(invalidValue(`${field}[${index}]`, version, 'duplicate version'))
    else errors.push(...invalidEach(`${field}[${index}]`, version, dns1035Label(version)))
  })
  if (!versions.includes('v1') && !versions.includes('v1beta1')) {
    errors.push(invalidValue(field, versions, 'must include at least one of v1, v1beta1'))
  }
  return errors
}
