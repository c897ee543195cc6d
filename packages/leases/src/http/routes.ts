import { ANY_ACCOUNT, HttpError, invalidRequest, json, notFound, type Route, route } from '@tenure/http'
import { ApiError, isConflict, isNotFound, type Kind, TenureError } from '@tenure/kube'
import { dnsLabel, pathSegment } from '@tenure/kube/model'
import type { OperatorContext } from '@tenure/runtime'
import { z } from 'zod'
import type { LeaseFamily } from '../api/annotations.ts'
import { LeaseController } from '../api/lease-controller.ts'
import { leaseTarget, type LeaseTarget, resourceName } from '../changes/lease-target.ts'
import { managersOf } from '../changes/managers.ts'
import { type LeaseChange, type LeaseChangeContext, planClear, planExtension, planSet } from '../changes/plan-change.ts'
import { LeaseRefusal, type Terms } from '../changes/terms.ts'
import { writeLeaseChange } from '../changes/write-change.ts'

const leaseBody = z
  .strictObject({
    apiVersion: z.string().regex(/^(?:[a-z\d.-]{1,253}\/)?[a-z\d]{1,63}$/, 'Expected a version such as v1 or apps/v1'),
    kind: z.string().min(1).max(63),
    namespace: z.string().max(63).optional(),
    name: z.string().min(1).max(253),
    ttl: z
      .string()
      .max(256)
      .nullable()
      .optional()
      .describe('A duration from now (1h30m, 2d), a time, a date, or forever; null removes the lease.'),
    extend: z.string().max(256).optional().describe('A duration that is added to the present end: 1h30m.'),
  })
  .refine(({ extend, ttl }) => (extend === undefined) !== (ttl === undefined), {
    message: 'Give either ttl or extend',
    path: ['ttl'],
  })

type LeaseBody = z.output<typeof leaseBody>

const leaseAnswer = z.object({
  expiresAt: z.int().optional().describe('Milliseconds since 1970. Absent if the object does not expire.'),
  ttl: z.string().optional(),
})

export type LeaseRoutesContext = Pick<OperatorContext, 'api' | 'clock' | 'discovery' | 'informers'>

/** The HTTP API of leases. It works on every replica. */
export function leaseRoutes(context: LeaseRoutesContext, families: readonly LeaseFamily[]): readonly Route[] {
  return [
    route({
      method: 'POST',
      path: '/api/v1/leases',
      summary: 'Set, extend or remove the lease of an object',
      description: 'The caller needs the permission to patch the object.',
      tags: ['leases'],
      body: leaseBody,
      access: ANY_ACCOUNT,
      responses: {
        200: { description: 'The lease as it is now', schema: leaseAnswer },
        400: failure('The body or the TTL is invalid'),
        403: failure('The caller may not patch the object'),
        404: failure('There is no such kind or object'),
        409: failure('No LeaseController manages the kind, or the object cannot have this lease'),
      },
      handle: async ({ authorize, body, signal }) => {
        const kind = await kindOf(context, body, signal)
        const target = targetOf(kind, body)
        await authorize({ group: kind.group, resource: kind.plural, verb: 'patch', ...target.ref })
        if (body.ttl !== null) await checkManaged(context, kind, signal)
        try {
          const { terms } = await writeLeaseChange({ ...context, signal }, target, (current, now) =>
            planned(body, { target, current, families, now }),
          )
          return json(200, answerOf(terms))
        } catch (error) {
          throw toHttpError(error, body.extend === undefined ? 'ttl' : 'extend')
        }
      },
    }),
  ]
}

async function kindOf(
  { discovery }: LeaseRoutesContext,
  { apiVersion, kind }: LeaseBody,
  signal: AbortSignal,
): Promise<Kind> {
  const [version = '', group = ''] = apiVersion.split('/').toReversed()
  try {
    return await discovery.kind({ group, version, kind }, { signal })
  } catch (error) {
    if (!(error instanceof TenureError) || error.code !== 'TENURE_KIND_UNKNOWN') throw error
    throw notFound(`The API server does not serve ${kind} (${apiVersion})`)
  }
}

/** Kubernetes allows no object to have some names; they are those of missing objects. */
function targetOf(kind: Kind, { name, namespace }: LeaseBody): LeaseTarget {
  if (kind.namespaced && namespace === undefined)
    throw invalidRequest([{ field: 'namespace', message: `Expected the namespace of the ${kind.kind}` }])
  const isPossible = pathSegment(name).length === 0 && dnsLabel(namespace ?? 'default').length === 0
  if (!isPossible) throw missing()
  return leaseTarget(kind, name, namespace)
}

/** Throws a 409 if nothing would ever end a lease of this kind. */
async function checkManaged(
  { discovery, informers }: LeaseRoutesContext,
  kind: Kind,
  signal: AbortSignal,
): Promise<void> {
  const controllers = informers.informer(LeaseController).cache.list()
  if (managersOf(controllers, kind, await discovery.freshGroups({ signal })).length > 0) return
  const message = `No LeaseController manages ${resourceName(kind)}: apply one first, because nothing would delete the object`
  throw new HttpError('TENURE_HTTP_CONFLICT', 409, message)
}

function planned({ extend, ttl }: LeaseBody, context: LeaseChangeContext): LeaseChange {
  if (extend !== undefined) return planExtension(context, extend)
  return typeof ttl === 'string' ? planSet(context, ttl) : planClear(context)
}

function answerOf(terms: Terms | undefined): z.output<typeof leaseAnswer> {
  switch (terms?.type) {
    case 'ttl':
      return { expiresAt: terms.end, ttl: terms.text }
    case 'time':
      return { expiresAt: terms.end }
    case 'forever':
      return { ttl: terms.text }
    case undefined:
      return {}
    default:
      return terms satisfies never
  }
}

function toHttpError(error: unknown, field: 'ttl' | 'extend'): unknown {
  if (error instanceof LeaseRefusal) {
    if (error.reason === 'terms') return invalidRequest([{ field, message: error.message }], error)
    return new HttpError('TENURE_HTTP_CONFLICT', 409, error.message, { cause: error })
  }
  if (isNotFound(error)) return missing()
  if (isConflict(error)) {
    const message = 'Other clients change the object all the time; try again'
    return new HttpError('TENURE_HTTP_CONFLICT', 409, message, { cause: error })
  }
  // A policy or a webhook; the message says why.
  if (error instanceof ApiError && error.isAdmissionDenial) {
    return new HttpError('TENURE_HTTP_FORBIDDEN', 403, error.message, { cause: error })
  }
  return error
}

const missing = (): HttpError => notFound('The object does not exist')

const failure = (description: string) => ({
  description,
  schema: z.object({ error: z.string(), details: z.array(z.unknown()).optional() }),
})
