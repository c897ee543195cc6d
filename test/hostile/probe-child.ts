/** Asks two servers every 100 ms whether they are alive, from a process of its own. */
import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { asError, systemClock } from '@tenure/kube'
import type { ProbeReport } from './messages.ts'

const INTERVAL_MS = 100
const urls = process.argv.slice(2)
const failures: string[] = []
let probes = 0
let longestGap = 0
let longestDelay = 0

function probe(url: string): Promise<void> {
  const began = performance.now()
  return new Promise((resolve) => {
    const send = url.startsWith('https:') ? httpsRequest : httpRequest
    const done = (failure?: string): void => {
      if (failure !== undefined) failures.push(`${url}: ${failure}`)
      probes++
      longestGap = Math.max(longestGap, performance.now() - began)
      resolve()
    }
    const request = send(url, { rejectUnauthorized: false, agent: false }, (response) => {
      response.resume()
      response.on('end', () => done(response.statusCode === 200 ? undefined : `status ${response.statusCode}`))
    })
    request.on('error', (error) => done(asError(error).message))
    request.end()
  })
}

async function repeat(url: string): Promise<void> {
  for (;;) {
    await probe(url)
    const before = performance.now()
    await new Promise<void>((resolve) => systemClock.setTimer(INTERVAL_MS, resolve))
    longestDelay = Math.max(longestDelay, performance.now() - before - INTERVAL_MS)
  }
}

process.on('message', () => {
  process.send?.({ probes, failures, longestGap, longestDelay } satisfies ProbeReport)
})
process.on('disconnect', () => process.exit())
await Promise.all(urls.map(repeat))
