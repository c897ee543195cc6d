import { ConnectionError, type ResponseBody } from '@tenure/kube'
import { ControlledStream, type ControlledStreamOptions } from '@tenure/runtime/testing'

/** The body of a watch, which a test can hold back, break, end or let stall. */
export function controlledBody(
  source: ResponseBody,
  options: Omit<ControlledStreamOptions, 'chunkBytes' | 'onClose'>,
  onClose: () => void,
): ControlledStream {
  const stream = new ControlledStream({
    ...options,
    chunkBytes: undefined,
    onClose: () => {
      source.cancel()
      onClose()
    },
  })
  void pump(source, stream)
  return stream
}

async function pump(source: ResponseBody, stream: ControlledStream): Promise<void> {
  try {
    for await (const chunk of source) {
      // The server sends whole lines, so that no character is split.
      for (const line of Buffer.from(chunk)
        .toString()
        .split(/(?<=\n)/))
        stream.push(line)
    }
    stream.end()
  } catch {
    stream.drop()
  }
}

export function connectionLost(): ConnectionError {
  return new ConnectionError('TENURE_CONNECTION_LOST', 'The connection to the test control plane broke.')
}
