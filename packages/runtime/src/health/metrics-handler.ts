import type { IncomingMessage, ServerResponse } from 'node:http'
import { asError } from '@tenure/kube'
import type { Logger } from '../log/logger.ts'
import { silentLogger } from '../log/logger.ts'
import type { Metrics } from '../metrics/metrics.ts'
import { sendText, rejectUnlessRead, targetOf } from './response.ts'

/** A request handler that serves `/metrics` in the Prometheus text format. Other paths get 404. */
export function metricsHandler(
  metrics: Metrics,
  log: Logger = silentLogger,
): (request: IncomingMessage, response: ServerResponse) => void {
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (rejectUnlessRead(request, response)) return
    if (targetOf(request).path !== '/metrics') {
      sendText(response, 404, 'not found\n')
      return
    }
    try {
      const { contentType, text } = await metrics.expose()
      sendText(response, 200, text, contentType)
    } catch (error) {
      log.error('failed to collect metrics', { error: asError(error) })
      sendText(response, 500, 'failed to collect metrics; see the log\n')
    }
  }
  return (request, response) => void handle(request, response)
}
