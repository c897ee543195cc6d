import { type HttpRequest, type HttpResponse, json, probeRoutes, type Route, route, text } from '@tenure/http'
import type { OperatorContext } from '@tenure/runtime'
import { z } from 'zod'
import { DEFAULT_POOL, GROUP } from '../api/names.ts'
import type { PoolReports } from '../controllers/pool/controller.ts'
import { poolStatus } from '../controllers/pool/status.ts'
import type { ClaimService } from '../handout/claim-service.ts'
import type { ClaimView } from '../handout/claim-view.ts'
import { ClaimFailure } from '../handout/errors.ts'
import { type Pools, templateFailure } from '../handout/pools.ts'
import { claimFailure, plainFailure } from './failures.ts'
import { readClaimBody, readIdempotencyKey } from './request-body.ts'
import { claim, claimBody as claimBodySchema, failure, pool, renewBody, renewed, taken } from './schemas.ts'
import { claimBody, poolBody, renewedBody, takenBody } from './to-response.ts'

const TAGS = ['claims']
/** Longer than the service needs at most: 10 s to take a claim and 120 s until it is ready. */
const TAKE_TIMEOUT_MS = 150_000
/** The values have at most 64 KiB; the rest is white space and the other fields. */
const MAX_BODY_BYTES = 256 * 1024

export interface ClaimRoutesOptions {
  readonly namespace: string
  readonly pools: Pools
  readonly view: ClaimView
  readonly reports: PoolReports
  readonly service: ClaimService
}

/** The HTTP API of claims. */
export function claimRoutes(context: Pick<OperatorContext, 'clock'>, options: ClaimRoutesOptions): readonly Route[] {
  return [...changingRoutes(options), ...readingRoutes(context, options)]
}

function changingRoutes({ namespace, service }: ClaimRoutesOptions): readonly Route[] {
  const access = (verb: string) => ({ group: GROUP, resource: 'claims', verb, namespace })
  const common = {
    method: 'POST',
    tags: TAGS,
    rawBody: true,
    bodyLimit: MAX_BODY_BYTES,
    shapeFailure: plainFailure,
  } as const
  const params = z.object({ id: z.string() })
  return [
    route({
      ...common,
      path: '/claim',
      summary: 'Take a claim and wait until it is ready',
      body: claimBodySchema,
      access: access('create'),
      timeout: TAKE_TIMEOUT_MS,
      responses: {
        201: { description: 'The claim', schema: taken },
        400: failure('The body, the TTL, the values or the Idempotency-Key is invalid'),
        404: failure('There is no such pool'),
        409: failure('The Idempotency-Key was used with another request'),
        429: failure('The caller holds as many claims as it may'),
        500: failure('The claim could not be made'),
        504: failure('The claim did not become ready in time'),
      },
      handle: answering(async ({ body, headers, remoteAddress, signal, user, audit }) => {
        const { pool: name = DEFAULT_POOL, ttl, values } = readClaimBody(body)
        const idempotencyKey = readIdempotencyKey(headers['idempotency-key'])
        const caller = user?.name ?? remoteAddress
        const request = { pool: name, ttl, values, idempotencyKey, user: user?.name, caller, signal }
        const handedOut = await service.take(request)
        audit({ name: auditedName(handedOut.id) })
        // A caller that left in this moment gets no answer. With a key, its next call asks for the same claim.
        if (signal.aborted && idempotencyKey === undefined) await service.release(handedOut.id)
        return json(201, takenBody(handedOut))
      }),
    }),
    route({
      ...common,
      path: '/renew/:id',
      summary: 'Extend a claim',
      params,
      body: renewBody,
      access: access('update'),
      responses: {
        200: { description: 'When the claim ends now', schema: renewed },
        400: failure('The body or the TTL is invalid'),
        404: failure('There is no such claim'),
        409: failure('The claim has lived for its maximum TTL'),
      },
      handle: answering(async ({ audit, body, params: { id } }) => {
        const { ttl } = readClaimBody(body)
        const given = idOf(id)
        audit({ name: auditedName(given) })
        return json(200, renewedBody(given, await service.renew(given, ttl)))
      }),
    }),
    route({
      ...common,
      path: '/release/:id',
      summary: 'End a claim and delete its resources',
      params,
      access: access('delete'),
      responses: {
        204: { description: 'The claim is gone' },
        403: failure('The object is not a claim'),
        404: failure('There is no such claim'),
      },
      handle: answering(async ({ audit, params: { id } }) => {
        const given = idOf(id)
        audit({ name: auditedName(given) })
        await service.release(given)
        return text(204, '')
      }),
    }),
  ]
}

function readingRoutes({ clock }: Pick<OperatorContext, 'clock'>, options: ClaimRoutesOptions): readonly Route[] {
  const { namespace, pools, reports, service, view } = options
  const access = { group: GROUP, resource: 'claims', verb: 'get', namespace }
  return [
    route({
      method: 'GET',
      path: '/claim/:id',
      summary: 'One claim: its state, its resources and its end',
      tags: TAGS,
      params: z.object({ id: z.string() }),
      access,
      responses: { 200: { description: 'The claim', schema: claim }, 404: failure('There is no such claim') },
      handle: answering(async ({ params: { id } }) => json(200, claimBody(await service.get(idOf(id))))),
      shapeFailure: plainFailure,
    }),
    route({
      method: 'GET',
      path: '/claims',
      summary: 'All claims that were handed out, and the pools',
      tags: TAGS,
      access: { ...access, verb: 'list' },
      responses: {
        200: { description: 'Claims and pools', schema: z.object({ claims: z.array(claim), pools: z.array(pool) }) },
      },
      handle: () => {
        const now = clock.now()
        const shown = [...pools.values()].map((each) => {
          const history = reports.histories.get(each.name)
          return poolBody(
            poolStatus(each.name, view.ofPool(each.name), { now, history, templateFailure: templateFailure(each) }),
          )
        })
        const claims = view.all().filter((each) => !each.isIdle && !each.isTerminating)
        return json(200, { claims: claims.map(claimBody), pools: shown })
      },
      shapeFailure: plainFailure,
    }),
  ]
}

/** Probes as the original answers them: on a server of the operator alone. */
export function claimProbeRoutes(context: Pick<OperatorContext, 'probes'>): readonly Route[] {
  return probeRoutes(context, { readiness: 'caches are synced and watches are up', shapeFailure: plainFailure })
}

/** Enough of an id to find the claim, and too little to use it: the id is all that its holder needs. */
const AUDITED_ID_LENGTH = 6

const auditedName = (id: string): string => `claim-${id.slice(0, AUDITED_ID_LENGTH)}…`

/** A blank id is reported before anything is looked up. */
function idOf(text: string): string {
  const id = text.trim()
  if (id === '') throw new ClaimFailure('TENURE_CLAIM_INVALID_REQUEST', 400, 'id is required')
  return id
}

/** A handler whose failures are answered as plain text. */
function answering<P>(handle: (request: HttpRequest<P>) => Promise<HttpResponse>) {
  return async (request: HttpRequest<P>): Promise<HttpResponse> => {
    try {
      return await handle(request)
    } catch (error) {
      return claimFailure(error, request.log)
    }
  }
}
