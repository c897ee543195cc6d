import type { Json } from '../../model/json.ts'
import { asJson, asJsons, asList, asText, at, isJson, isUnset } from '../../model/json.ts'
import { invalidEach, invalidValue, notSupported, required } from '../../schema/field-errors.ts'
import { parseAddress } from '../../schema/formats/addresses.ts'
import type { FieldError } from '../../schema/types.ts'
import { dnsLabel, dnsSubdomain, pathSegment, portName, portNumber, wildcardSubdomain } from '../common/names.ts'

export function validateIngress(spec: Json): FieldError[] {
  const rules = asJsons(spec['rules'])
  const errors: FieldError[] = []
  if (rules.length === 0 && !isJson(spec['defaultBackend'])) {
    errors.push(invalidValue('spec', null, 'either `defaultBackend` or `rules` must be specified'))
  }
  if (isJson(spec['defaultBackend'])) errors.push(...validateBackend(spec['defaultBackend'], 'spec.defaultBackend'))
  rules.forEach(({ host, http }, index) => {
    const field = `spec.rules[${index}]`
    const name = asText(host)
    if (name) {
      if (parseAddress(name)) errors.push(invalidValue(`${field}.host`, name, 'must be a DNS name, not an IP address'))
      const rule = name.includes('*') ? wildcardSubdomain : dnsSubdomain
      errors.push(...invalidEach(`${field}.host`, name, rule(name)))
    }
    if (!isJson(http)) return
    const paths = asJsons(http['paths'])
    if (paths.length === 0) errors.push(required(`${field}.http.paths`))
    paths.forEach((path, at) => errors.push(...validatePath(path, `${field}.http.paths[${at}]`)))
  })
  asJsons(spec['tls']).forEach((tls, index) => errors.push(...validateTls(tls, `spec.tls[${index}]`)))
  const { ingressClassName } = spec
  if (typeof ingressClassName === 'string') {
    errors.push(...invalidEach('spec.ingressClassName', ingressClassName, dnsSubdomain(ingressClassName)))
  }
  return errors
}

const CLASS_ANNOTATION = 'kubernetes.io/ingress.class'

/** The deprecated annotation must agree with `spec.ingressClassName`. */
export function validateClassAnnotation(ingress: Json): FieldError[] {
  const name = at(ingress, 'spec', 'ingressClassName')
  const old = at(ingress, 'metadata', 'annotations', CLASS_ANNOTATION)
  if (typeof name !== 'string' || typeof old !== 'string' || name === old) return []
  const detail = 'must match `ingressClassName` when both are specified'
  return [invalidValue(`annotations.${CLASS_ANNOTATION}`, old, detail)]
}

export function warningsForIngressClass(ingress: Json, old: Json | undefined): readonly string[] {
  if (old || at(ingress, 'metadata', 'annotations', CLASS_ANNOTATION) === undefined) return []
  return [`annotation "${CLASS_ANNOTATION}" is deprecated, please use 'spec.ingressClassName' instead`]
}

function validateTls({ hosts, secretName }: Json, field: string): FieldError[] {
  const errors = asList(hosts)
    .map(asText)
    .flatMap((host, index) => {
      const rule = host.includes('*') ? wildcardSubdomain : dnsSubdomain
      return invalidEach(`${field}.hosts[${index}]`, host, rule(host))
    })
  const secret = asText(secretName)
  return secret ? [...errors, ...invalidEach(`${field}.secretName`, secret, dnsSubdomain(secret))] : errors
}

export function validateReference(reference: Json, field: string): FieldError[] {
  const group = asText(reference['apiGroup'])
  return [
    ...(group ? invalidEach(`${field}.apiGroup`, group, dnsSubdomain(group)) : []),
    ...['kind', 'name'].flatMap((name) => {
      const text = asText(reference[name])
      return text ? invalidEach(`${field}.${name}`, text, pathSegment(text)) : [required(`${field}.${name}`)]
    }),
  ]
}

const INVALID_SEQUENCES = ['//', '/./', '/../', '%2f', '%2F']
const INVALID_SUFFIXES = ['/..', '/.']

function validatePath(entry: Json, field: string): FieldError[] {
  const { pathType, backend } = entry
  if (isUnset(pathType)) return [required(`${field}.pathType`, 'pathType must be specified')]
  const path = asText(entry['path'])
  const errors: FieldError[] = []
  const complain = (detail: string): number => errors.push(invalidValue(`${field}.path`, path, detail))
  if (pathType === 'Exact' || pathType === 'Prefix') {
    if (!path.startsWith('/')) complain('must be an absolute path')
    for (const sequence of INVALID_SEQUENCES) if (path.includes(sequence)) complain(`must not contain '${sequence}'`)
    for (const end of INVALID_SUFFIXES) if (path.endsWith(end)) complain(`cannot end with '${end}'`)
  } else if (pathType === 'ImplementationSpecific') {
    if (path && !path.startsWith('/')) complain('must be an absolute path')
  } else {
    errors.push(notSupported(`${field}.pathType`, pathType, ['Exact', 'ImplementationSpecific', 'Prefix']))
  }
  return [...errors, ...validateBackend(asJson(backend), `${field}.backend`)]
}

function validateBackend({ resource, service }: Json, field: string): FieldError[] {
  if (isJson(resource) && isJson(service)) {
    return [invalidValue(field, '', 'cannot set both resource and service backends')]
  }
  if (isJson(resource)) return validateReference(resource, `${field}.resource`)
  if (!isJson(service)) return [invalidValue(field, '', 'resource or service backend is required')]
  const errors: FieldError[] = []
  const name = asText(service['name'])
  if (name) errors.push(...invalidEach(`${field}.service.name`, name, dnsLabel(name)))
  else errors.push(required(`${field}.service.name`))
  const { name: portText, number } = asJson(service['port'])
  if (portText && !isUnset(number)) errors.push(invalidValue(field, '', 'cannot set both port name & port number'))
  else if (portText) errors.push(...invalidEach(`${field}.service.port.name`, portText, portName(asText(portText))))
  else if (isUnset(number)) errors.push(required(field, 'port name or number is required'))
  else errors.push(...invalidEach(`${field}.service.port.number`, number, portNumber(Number(number))))
  return errors
}
