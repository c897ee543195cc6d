/** sprig's functions on paths, with forward slashes. */
import type { GoFunction } from '../values/go-function.ts'
import { fn } from './define.ts'

export function clean(path: string): string {
  if (path === '') return '.'
  const isRooted = path.startsWith('/')
  const kept: string[] = []
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue
    if (part !== '..') kept.push(part)
    else if (kept.length > 0 && kept.at(-1) !== '..') kept.pop()
    else if (!isRooted) kept.push('..')
  }
  return (isRooted ? '/' : '') + kept.join('/') || '.'
}

export function base(path: string): string {
  if (path === '') return '.'
  const trimmed = path.replace(/\/+$/, '')
  return trimmed.slice(trimmed.lastIndexOf('/') + 1) || '/'
}

const directory = (path: string): string => clean(path.slice(0, path.lastIndexOf('/') + 1))

function extension(path: string): string {
  const point = path.lastIndexOf('.')
  return point > path.lastIndexOf('/') ? path.slice(point) : ''
}

/** The functions for paths of the system are the same as those for slashes. */
const both = (name: string, call: (path: string) => string | boolean): readonly GoFunction[] => [
  fn(name, ['string'], ([path]) => call(path)),
  fn(`os${name.charAt(0).toUpperCase()}${name.slice(1)}`, ['string'], ([path]) => call(path)),
]

export const pathFunctions: readonly GoFunction[] = [
  ...both('base', base),
  ...both('dir', directory),
  ...both('clean', clean),
  ...both('ext', extension),
  ...both('isAbs', (path) => path.startsWith('/')),
]
