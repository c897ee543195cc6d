import type { IncomingMessage, ServerResponse } from 'node:http'
import { asError } from '@tenure/kube'
import type { Logger } from '../log/logger.ts'
import { silentLogger } from '../log/logger.ts'
import type { Metrics } from '../metrics/metrics.ts'
import { answerText, refuseUnlessRead, targetOf } from './response.ts'

/** A handler that answers `/metrics` in the Prometheus text format; mount it anywhere. Other paths are a 404. */
export function metricsHandler(
  metrics: Metrics,
  log: Logger = silentLogger,
): (request: IncomingMessage, response: ServerResponse) => void {
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (refuseUnlessRead(request, response)) return
    if (targetOf(request).path !== '/metrics') {
      answerText(response, 404, 'not found\n')
      return
    }
    try {
      const { contentType, text } = await metrics.expose()
      answerText(response, 200, text, contentType)
    } catch (error) {
      log.error('could not collect metrics', { error: asError(error) })
      answerText(response, 500, 'could not collect metrics; see the log\n')
    }
  }
  return (request, response) => void handle(request, response)
}
