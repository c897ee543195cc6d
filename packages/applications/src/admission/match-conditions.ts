/** Of an Application that is changed, all that either webhook has a say in. */
const JUDGED = ['spec', 'metadata.labels', 'metadata.annotations'] as const

/**
 * CEL, for the API server: what changes only finalizers, owners or the like never leaves it. That saves two calls for
 * every finalizer that comes off, and lets it come off while nobody answers. The expression must have a value for
 * whatever is written: with the failure policy `Fail` one that has none refuses the write. That is why nothing is looked
 * at but what is there; metadata always is, because nothing is stored without a name.
 */
export const matchConditions = [
  {
    name: 'judged-parts-change',
    expression: ["request.operation != 'UPDATE'", ...JUDGED.map(differs)].join(' || '),
  },
] as const

function differs(field: string): string {
  const [now, before] = [`object.${field}`, `oldObject.${field}`]
  return `has(${now}) != has(${before}) || (has(${now}) && ${now} != ${before})`
}
