import type { Operator } from '@tenure/runtime'
import { clusterOperatorEntries, operatorEntries } from './operators.ts'

/** All operators of `tenure start`, for what needs all of them. */
export const operators: readonly Operator[] = await Promise.all(operatorEntries.map(({ load }) => load()))

export const clusterOperators: readonly Operator[] = await Promise.all(clusterOperatorEntries.map(({ load }) => load()))
