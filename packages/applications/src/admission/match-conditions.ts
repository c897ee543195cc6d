/** Fields of an Application that the webhooks look at. */
const REVIEWED_FIELDS = ['spec', 'metadata.labels', 'metadata.annotations'] as const

/**
 * CEL, evaluated by the API server: a write that changes only finalizers, owners and the like does not reach the
 * webhooks. This saves two calls per removed finalizer, and finalizers can be removed while no replica answers. The
 * expression guards each field with `has`, because with the failure policy `Fail` an evaluation error refuses the write.
 */
export const matchConditions = [
  {
    name: 'reviewed-fields-change',
    expression: ["request.operation != 'UPDATE'", ...REVIEWED_FIELDS.map(differs)].join(' || '),
  },
] as const

function differs(field: string): string {
  const [now, before] = [`object.${field}`, `oldObject.${field}`]
  return `has(${now}) != has(${before}) || (has(${now}) && ${now} != ${before})`
}
