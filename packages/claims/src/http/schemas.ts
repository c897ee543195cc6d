import { described } from '@tenure/http'
import { z } from 'zod'

export const time = z.string().meta({ format: 'date-time' })

export const taken = z.object({
  data: z.record(z.string(), z.string()),
  expiresAt: time,
  id: z.string(),
  preProvisioned: z.boolean(),
  releaseMethod: z.literal('POST'),
  releasePath: z.string(),
  renewMethod: z.literal('POST'),
  renewPath: z.string(),
  status: z.literal('ok'),
})

export const renewed = z.object({
  expiresAt: time,
  id: z.string(),
  renewMethod: z.literal('POST'),
  renewPath: z.string(),
  status: z.literal('ok'),
})

export const claim = z.object({
  id: z.string(),
  pool: z.string(),
  status: z.enum(['pending', 'ready', 'failed']),
  message: z.string(),
  preProvisioned: z.boolean(),
  createdAt: time,
  claimedAt: time.optional(),
  expiresAt: time.optional(),
  resources: z.array(
    z.object({
      kind: z.string(),
      name: z.string(),
      namespace: z.string(),
      ready: z.boolean(),
      message: z.string(),
    }),
  ),
})

export const pool = z.object({
  name: z.string(),
  ready: z.int(),
  pending: z.int(),
  failing: z.int(),
  claimed: z.int(),
  lastFailure: z.string().optional(),
  templateFailure: z.string().optional(),
  nextAttemptAt: time.optional(),
})

/** Describes the body, which is optional and read by `readClaimBody`. */
export const claimBody = described({
  type: 'object',
  properties: {
    ttl: { type: 'string', description: 'How long the claim lives: 5m, 1h30m, 1d. Default: that of the pool.' },
    pool: { type: 'string', description: 'The pool to take the claim from. Default: "default".' },
    values: { type: 'object', description: 'Values for the template, under `.Values.claim`.' },
  },
})

export const renewBody = described({
  type: 'object',
  properties: { ttl: { type: 'string', description: 'How long the claim lives from now on.' } },
})

/** A failure: one line of text. */
export const failure = (description: string) => ({ description, schema: z.string(), contentType: 'text/plain' })
