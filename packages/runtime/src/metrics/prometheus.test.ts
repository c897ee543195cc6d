import { describe, expect, test } from 'vitest'
import { createMetrics } from './prometheus.ts'

const quiet = { processMetrics: false }

describe('createMetrics', () => {
  test('metrics are exposed in the Prometheus text format', async () => {
    const metrics = await createMetrics(quiet)
    const requests = metrics.counter({ name: 'requests_total', help: 'All of\nthem.', labels: ['code', 'method'] })
    requests.with({ code: '200', method: 'GET' }).inc()
    requests.with({ method: 'GET', code: '200' }).inc(2)
    requests.with({ code: 'a"b\\c\nd', method: '' }).inc()
    const depth = metrics.gauge({ name: 'depth', help: 'Now.' })
    depth.with({}).set(5)
    depth.with({}).dec(2)
    const time = metrics.histogram({ name: 'time_seconds', help: 'Took.', labels: ['verb'], buckets: [0.1, 1] })
    for (const value of [0.05, 0.1, 0.5, 3]) time.with({ verb: 'get' }).observe(value)
    metrics.counter({ name: 'none_total', help: 'None.' })
    const { contentType, text } = await metrics.expose()
    expect(contentType).toBe('text/plain; version=0.0.4; charset=utf-8')
    expect(text).toBe(`# HELP requests_total All of\\nthem.
# TYPE requests_total counter
requests_total{code="200",method="GET"} 3
requests_total{code="a\\"b\\\\c\\nd",method=""} 1
# HELP depth Now.
# TYPE depth gauge
depth 3
# HELP time_seconds Took.
# TYPE time_seconds histogram
time_seconds_bucket{verb="get",le="0.1"} 2
time_seconds_bucket{verb="get",le="1"} 3
time_seconds_bucket{verb="get",le="+Inf"} 4
time_seconds_sum{verb="get"} 3.65
time_seconds_count{verb="get"} 4
# HELP none_total None.
# TYPE none_total counter
none_total 0
`)
  })

  test('a histogram can be read back, with cumulative counts', async () => {
    const metrics = await createMetrics(quiet)
    const time = metrics.histogram({ name: 'time_seconds', help: 'Took.', buckets: [0.1, 1] }).with({})
    expect(time.snapshot()).toEqual({ le: [0.1, 1], counts: [0, 0, 0], sum: 0, count: 0 })
    for (const value of [0.25, 0.0625, 0.5, 3]) time.observe(value)
    expect(time.snapshot()).toEqual({ le: [0.1, 1], counts: [1, 3, 4], sum: 3.8125, count: 4 })
  })

  test('a name has one family, and a removed series is no longer exposed', async () => {
    const metrics = await createMetrics(quiet)
    const instrument = { name: 'a', help: 'h', labels: ['x'] }
    metrics.gauge(instrument).with({ x: '1' }).inc()
    metrics.gauge(instrument).with({ x: '1' }).inc()
    expect((await metrics.expose()).text).toContain('a{x="1"} 2')
    metrics.gauge(instrument).remove({ x: '1' })
    expect((await metrics.expose()).text).not.toContain('a{')
  })

  test('programming errors are rejected', async () => {
    const metrics = await createMetrics(quiet)
    const counter = metrics.counter({ name: 'a_total', help: 'h', labels: ['x'] })
    expect(() => counter.with({})).toThrow('has the labels [x], got []')
    expect(() => counter.with({ x: '1', y: '2' })).toThrow('got [x, y]')
    expect(() => metrics.gauge({ name: 'a_total', help: 'h' })).toThrow('is already a counter')
    expect(() => counter.with({ x: '1' }).inc(-1)).toThrow('cannot decrease')
    expect(() => counter.with({ x: '1' }).inc(Number.NaN)).toThrow('cannot decrease')
  })

  test('collectors run before each exposition, and one that throws does not stop the others', async () => {
    const metrics = await createMetrics(quiet)
    const size = metrics.gauge({ name: 'size', help: 'h' }).with({})
    let now = 1
    metrics.onCollect(() => {
      throw new Error('broken')
    })
    const end = metrics.onCollect(() => size.set(now))
    expect((await metrics.expose()).text).toContain('size 1')
    now = 2
    expect((await metrics.expose()).text).toContain('size 2')
    end()
    now = 3
    expect((await metrics.expose()).text).toContain('size 2')
  })

  test('process metrics are included, and two instances do not collide', async () => {
    const [one, two] = await Promise.all([createMetrics(), createMetrics()])
    one.counter({ name: 'mine_total', help: 'h' })
    const { text } = await one.expose()
    expect(text).toMatch(/^process_start_time_seconds \d+/m)
    expect(text).toMatch(/^process_resident_memory_bytes \d+/m)
    expect(text).toContain('mine_total 0')
    expect(text.endsWith('\n')).toBe(true)
    const names = text.match(/^# TYPE \S+/gm) ?? []
    expect(new Set(names).size).toBe(names.length)
    expect((await two.expose()).text).not.toContain('mine_total')
  })
})
