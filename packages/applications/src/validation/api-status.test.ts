import { ApiError } from '@tenure/kube'
import { describe, expect, test } from 'vitest'
import { detailsOf } from './validate.ts'

interface Cause {
  readonly reason: string
  readonly message: string
  readonly field: string
}

function invalid(...causes: readonly Cause[]): ApiError {
  return new ApiError('Application "a" is invalid', { status: 422, reason: 'Invalid', details: { causes } })
}

const refused = (message: string) => detailsOf(new ApiError(message, { status: 400, reason: 'BadRequest' }))
const forbidden = (message: string) => detailsOf(new ApiError(message, { status: 403, reason: 'Forbidden' }))

// Messages of kube-apiserver 1.36.
describe('causes of a 422', () => {
  test.each([
    [
      'FieldValueInvalid',
      'Invalid value: 150: spec.replicas in body should be less than or equal to 100',
      'Value must be at most 100',
      150,
    ],
    [
      'FieldValueInvalid',
      'Invalid value: -1: spec.replicas in body should be greater than or equal to 0',
      'Value must be at least 0',
      -1,
    ],
    [
      'FieldValueInvalid',
      'Invalid value: "": spec.image in body should be at least 1 chars long',
      'Value must have at least 1 character',
      '',
    ],
    [
      'FieldValueInvalid',
      `Invalid value: "q": spec.ingress.path in body should match '^/'`,
      'Value must match ^/',
      'q',
    ],
    [
      'FieldValueTooLong',
      'Too long: may not be more than 63 bytes',
      'Value must have at most 63 characters',
      undefined,
    ],
    [
      'FieldValueTypeInvalid',
      'Invalid value: "string": spec.replicas in body must be of type integer: "string"',
      'Expected integer, got string',
      undefined,
    ],
    [
      'FieldValueTypeInvalid',
      'Invalid value: "float64": spec.replicas in body must be of type int32: "float64"',
      'Expected integer, got number',
      undefined,
    ],
    [
      'FieldValueTypeInvalid',
      'Invalid value: "boolean": spec.x in body must be of type integer,string: "boolean"',
      'Expected integer or string, got boolean',
      undefined,
    ],
    [
      'FieldValueNotSupported',
      'Unsupported value: "X": supported values: "RollingUpdate", "Recreate"',
      'Value must be one of: RollingUpdate, Recreate',
      'X',
    ],
    ['FieldValueRequired', 'Required value', 'Required field is missing', undefined],
    ['FieldValueInvalid', 'Invalid value: ingress needs ports', 'ingress needs ports', undefined],
    ['FieldValueInvalid', 'Invalid value: "object": ingress needs ports', 'ingress needs ports', undefined],
    ['FieldValueForbidden', 'Forbidden: too late', 'Forbidden: too late', undefined],
  ])('the cause %s %s is translated', (reason, message, translated, value) => {
    const detail = { field: 'spec.x', message: translated, ...(value !== undefined && { value }) }
    expect(detailsOf(invalid({ reason, message, field: 'spec.x' }))).toEqual([detail])
  })

  test('a missing name is reported as required', () => {
    const cause = { reason: 'FieldValueRequired', message: 'Required value: name or generateName is required' }
    expect(detailsOf(invalid({ ...cause, field: 'metadata.name' }))).toEqual([
      { field: 'metadata.name', message: 'Resource name is required' },
    ])
  })

  test('a field name of the scale subresource is normalized', () => {
    const below = 'Invalid value: -1: spec.replicas in body should be greater than or equal to 0'
    expect(
      detailsOf(
        invalid(
          { reason: 'FieldValueInvalid', message: below, field: 'spec.replicas' },
          {
            reason: 'FieldValueInvalid',
            message: 'Invalid value: -1: should be a non-negative integer',
            field: '.spec.replicas',
          },
        ),
      ),
    ).toEqual([{ field: 'spec.replicas', message: 'Value must be at least 0', value: -1 }])
  })

  test('each field is reported once, and follow-up causes are dropped', () => {
    const wrong = { reason: 'FieldValueInvalid', field: 'metadata.name' }
    expect(
      detailsOf(
        invalid(
          { ...wrong, message: 'Invalid value: "A": a lowercase RFC 1123 subdomain must consist of …' },
          { ...wrong, message: `Invalid value: "A": metadata.name in body should match '^[a-z]+$'` },
          {
            reason: 'FieldValueInvalid',
            message:
              'Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
            field: '<nil>',
          },
        ),
      ),
    ).toEqual([{ field: 'metadata.name', message: expect.stringContaining('lower-case letters'), value: 'A' }])
  })
})

test('a body that the server cannot decode is reported with its field if it is known', () => {
  const start = 'Application in version "v1" cannot be handled as a Application: '
  expect(
    refused(`${start}json: cannot unmarshal number into Go struct field ObjectMeta.labels of type string`),
  ).toEqual([{ field: 'metadata.labels', message: 'Unexpected number' }])
  expect(refused('the body of the request was in an unknown format')).toEqual([
    { field: 'body', message: 'the body of the request was in an unknown format' },
  ])
})

test('a denial of the own webhook names its field, and other denials are not translated', () => {
  const webhook = 'admission webhook "applications.cloudnative.elide.dev" denied the request: '
  expect(forbidden(`${webhook}Images must be from gcr.io or docker.io registries`)).toEqual([
    { field: 'spec.image', message: 'Images must be from gcr.io or docker.io registries' },
  ])
  expect(forbidden(`${webhook}replicas must be >= 0`)).toEqual([
    { field: 'spec.replicas', message: 'replicas must be >= 0' },
  ])
  expect(forbidden('applications.cloudnative.elide.dev is forbidden: User "x" cannot create')).toBeUndefined()
  expect(detailsOf(new ApiError('exists', { status: 409, reason: 'AlreadyExists' }))).toBeUndefined()
})
