import { useEffect, useState } from 'preact/hooks'
import { messageOf, RequestFailure } from '../data/api.ts'
import { useServices } from './services.ts'

/** A value that was read from the server; an earlier one stays while it is read again. */
export interface Fetched<T> {
  readonly value: T | undefined
  readonly error: string | undefined
  /** HTTP status of the failure. */
  readonly status: number | undefined
  readonly reload: () => void
}

/** Reads a path, and again when `version` changes, at most twice a second. The key `r` reads it again, too. */
export function useFetched<T>(path: string, version: string): Fetched<T> {
  const services = useServices()
  const { api, clock } = services
  const [state, setState] = useState<Omit<Fetched<T>, 'reload'> & { readonly path: string }>({ ...NOTHING, path })
  const [count, setCount] = useState(0)
  const reload = (): void => setCount((before) => before + 1)

  useEffect(() => {
    const abort = new AbortController()
    const read = async (): Promise<void> => {
      try {
        const value = await api.json<T>(path, { signal: abort.signal })
        if (!abort.signal.aborted) setState({ value, error: undefined, status: undefined, path })
      } catch (error) {
        if (abort.signal.aborted) return
        const status = error instanceof RequestFailure ? error.status : undefined
        setState((before) => ({
          // A deleted object is not shown any more; while the server is away, the last state stays.
          value: status === 0 && before.path === path ? before.value : undefined,
          error: messageOf(error),
          status,
          path,
        }))
      }
    }
    // A burst of changes is read once.
    const timer = state.value === undefined ? undefined : clock.setTimer(MIN_INTERVAL_MS, () => void read())
    if (!timer) void read()
    return () => {
      timer?.cancel()
      abort.abort()
    }
  }, [path, version, count])

  useEffect(() => {
    services.reload = reload
    return () => {
      if (services.reload === reload) services.reload = undefined
    }
  }, [])

  return state.path === path ? { ...state, reload } : { ...NOTHING, reload }
}

const NOTHING = { value: undefined, error: undefined, status: undefined }

/** Milliseconds to wait for further changes. */
const MIN_INTERVAL_MS = 500
