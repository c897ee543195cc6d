import type { Route } from '@tenure/http'
import { described, HttpError, json, route } from '@tenure/http'
import type { AdmissionReviewResponse } from '@tenure/runtime/webhooks'
import type { Reviews } from './options.ts'
import { failure } from './schemas.ts'

const review = described({ type: 'object', description: 'An AdmissionReview of admission.k8s.io/v1' })

/** In bytes: the review of an update holds two objects of the API server's maximum size. */
const BODY_LIMIT = 7 * 1024 * 1024

/** `POST /validate` and `/mutate` answer AdmissionReviews as the webhooks do. They change nothing. */
export function reviewRoutes(reviews: Reviews): readonly Route[] {
  return [
    reviewRoute('/validate', 'Validate the object of an AdmissionReview', (body) => reviews.validate(body)),
    reviewRoute('/mutate', 'Default the object of an AdmissionReview with a JSON patch', (body) =>
      reviews.mutate(body),
    ),
  ]
}

function reviewRoute(path: string, summary: string, answer: (body: unknown) => AdmissionReviewResponse): Route {
  return route({
    method: 'POST',
    path,
    summary,
    tags: ['admission'],
    body: review,
    bodyLimit: BODY_LIMIT,
    // The API server calls webhooks without a token, and the response holds only data of the request.
    access: 'public',
    isWrite: false,
    responses: {
      200: { description: 'The review with its response', schema: review },
      400: failure('The body is not a valid AdmissionReview'),
    },
    handle: ({ body }) => {
      if (body === undefined) throw new HttpError('TENURE_HTTP_INVALID_JSON', 400, 'Invalid JSON')
      const answered = answer(body)
      return json(answered.status, answered.body)
    },
  })
}
