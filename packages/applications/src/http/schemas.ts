import { described } from '@tenure/http'
import { z } from 'zod'
import { Application, VERSION } from '../api/index.ts'
import { applicationDefinition } from '../api/crd.ts'

const version = applicationDefinition.spec.versions.find(({ name }) => name === VERSION)

/** Documents the body; `validateApplication` checks it. */
export const applicationSchema = described({ ...version?.schema?.openAPIV3Schema })

export const listSchema = z.object({
  apiVersion: z.literal(Application.apiVersion),
  kind: z.literal('ApplicationList'),
  metadata: z.object({
    resourceVersion: z.string(),
    continue: z.string().optional(),
    remainingItemCount: z.int().optional(),
  }),
  items: z.array(applicationSchema),
})

export const failureSchema = z.object({
  error: z.string(),
  details: z.array(z.object({ field: z.string(), message: z.string(), value: z.unknown().optional() })).optional(),
})

export const failure = (description: string) => ({ description, schema: failureSchema })

const WHOLE_NUMBER = /^\d{1,9}$/

export const listQuery = z.object({
  labelSelector: z.string().max(4_096).optional(),
  fieldSelector: z.string().max(4_096).optional(),
  limit: z.string().regex(WHOLE_NUMBER, 'Expected a whole number').optional(),
  continue: z.string().max(4_096).optional(),
})
export type ListQuery = z.output<typeof listQuery>

export const inNamespace = z.object({ namespace: z.string() })
export const named = z.object({ namespace: z.string(), name: z.string() })
