import type { JsonObject } from '@tenure/kube/model'
import {
  asArray,
  asJsonObject,
  asString,
  dnsLabel,
  dnsSubdomain,
  isJsonObject,
  pathSegment,
  valueAtPath,
  wildcardSubdomain,
} from '@tenure/kube/model'

import { append } from '../../model/append.ts'
import { asJsonObjects, isUnset } from '../../model/json.ts'
import { invalidEach, invalidValue, notSupported, required } from '../../schema/field-errors.ts'
import { parseAddress } from '../../schema/formats/addresses.ts'
import type { FieldError } from '../../schema/types.ts'
import { portName, portNumber } from '../common/names.ts'

export function validateIngress(spec: JsonObject): FieldError[] {
  const rules = asJsonObjects(spec['rules'])
  const errors: FieldError[] = []
  if (rules.length === 0 && !isJsonObject(spec['defaultBackend'])) {
    errors.push(invalidValue('spec', null, 'either `defaultBackend` or `rules` must be specified'))
  }
  if (isJsonObject(spec['defaultBackend']))
    append(errors, validateBackend(spec['defaultBackend'], 'spec.defaultBackend'))
  rules.forEach(({ host, http }, index) => {
    const field = `spec.rules[${index}]`
    const name = asString(host)
    if (name) {
      if (parseAddress(name)) errors.push(invalidValue(`${field}.host`, name, 'must be a DNS name, not an IP address'))
      const rule = name.includes('*') ? wildcardSubdomain : dnsSubdomain
      errors.push(...invalidEach(`${field}.host`, name, rule(name)))
    }
    if (!isJsonObject(http)) return
    const paths = asJsonObjects(http['paths'])
    if (paths.length === 0) errors.push(required(`${field}.http.paths`))
    paths.forEach((path, at) => append(errors, validatePath(path, `${field}.http.paths[${at}]`)))
  })
  asJsonObjects(spec['tls']).forEach((tls, index) => append(errors, validateTls(tls, `spec.tls[${index}]`)))
  const { ingressClassName } = spec
  if (typeof ingressClassName === 'string') {
    errors.push(...invalidEach('spec.ingressClassName', ingressClassName, dnsSubdomain(ingressClassName)))
  }
  return errors
}

const CLASS_ANNOTATION = 'kubernetes.io/ingress.class'

/** The deprecated annotation must agree with `spec.ingressClassName`. */
export function validateClassAnnotation(ingress: JsonObject): FieldError[] {
  const name = valueAtPath(ingress, 'spec', 'ingressClassName')
  const old = valueAtPath(ingress, 'metadata', 'annotations', CLASS_ANNOTATION)
  if (typeof name !== 'string' || typeof old !== 'string' || name === old) return []
  const detail = 'must match `ingressClassName` when both are specified'
  return [invalidValue(`annotations.${CLASS_ANNOTATION}`, old, detail)]
}

export function warningsForIngressClass(ingress: JsonObject, old: JsonObject | undefined): readonly string[] {
  if (old || valueAtPath(ingress, 'metadata', 'annotations', CLASS_ANNOTATION) === undefined) return []
  return [`annotation "${CLASS_ANNOTATION}" is deprecated, please use 'spec.ingressClassName' instead`]
}

function validateTls({ hosts, secretName }: JsonObject, field: string): FieldError[] {
  const errors = asArray(hosts)
    .map(asString)
    .flatMap((host, index) => {
      const rule = host.includes('*') ? wildcardSubdomain : dnsSubdomain
      return invalidEach(`${field}.hosts[${index}]`, host, rule(host))
    })
  const secret = asString(secretName)
  return secret ? [...errors, ...invalidEach(`${field}.secretName`, secret, dnsSubdomain(secret))] : errors
}

export function validateReference(reference: JsonObject, field: string): FieldError[] {
  const group = asString(reference['apiGroup'])
  return [
    ...(group ? invalidEach(`${field}.apiGroup`, group, dnsSubdomain(group)) : []),
    ...['kind', 'name'].flatMap((name) => {
      const text = asString(reference[name])
      return text ? invalidEach(`${field}.${name}`, text, pathSegment(text)) : [required(`${field}.${name}`)]
    }),
  ]
}

const INVALID_SEQUENCES = ['//', '/./', '/../', '%2f', '%2F']
const INVALID_SUFFIXES = ['/..', '/.']

function validatePath(entry: JsonObject, field: string): FieldError[] {
  const { pathType, backend } = entry
  if (isUnset(pathType)) return [required(`${field}.pathType`, 'pathType must be specified')]
  const path = asString(entry['path'])
  const errors: FieldError[] = []
  const addError = (detail: string): number => errors.push(invalidValue(`${field}.path`, path, detail))
  if (pathType === 'Exact' || pathType === 'Prefix') {
    if (!path.startsWith('/')) addError('must be an absolute path')
    for (const sequence of INVALID_SEQUENCES) if (path.includes(sequence)) addError(`must not contain '${sequence}'`)
    for (const end of INVALID_SUFFIXES) if (path.endsWith(end)) addError(`cannot end with '${end}'`)
  } else if (pathType === 'ImplementationSpecific') {
    if (path && !path.startsWith('/')) addError('must be an absolute path')
  } else {
    errors.push(notSupported(`${field}.pathType`, pathType, ['Exact', 'ImplementationSpecific', 'Prefix']))
  }
  return [...errors, ...validateBackend(asJsonObject(backend), `${field}.backend`)]
}

function validateBackend({ resource, service }: JsonObject, field: string): FieldError[] {
  if (isJsonObject(resource) && isJsonObject(service)) {
    return [invalidValue(field, '', 'cannot set both resource and service backends')]
  }
  if (isJsonObject(resource)) return validateReference(resource, `${field}.resource`)
  if (!isJsonObject(service)) return [invalidValue(field, '', 'resource or service backend is required')]
  const errors: FieldError[] = []
  const name = asString(service['name'])
  if (name) errors.push(...invalidEach(`${field}.service.name`, name, dnsLabel(name)))
  else errors.push(required(`${field}.service.name`))
  const { name: portText, number } = asJsonObject(service['port'])
  if (portText && !isUnset(number)) errors.push(invalidValue(field, '', 'cannot set both port name & port number'))
  else if (portText) errors.push(...invalidEach(`${field}.service.port.name`, portText, portName(asString(portText))))
  else if (isUnset(number)) errors.push(required(field, 'port name or number is required'))
  else errors.push(...invalidEach(`${field}.service.port.number`, number, portNumber(Number(number))))
  return errors
}
