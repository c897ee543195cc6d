/** Every function that templates know. */
import { cryptoFunctions } from '../crypto/functions.ts'
import { dataFunctions } from '../data/functions.ts'
import { helmFunctions } from '../helm/functions.ts'
import { semverFunctions } from '../semver/constraints.ts'
import { timeFunctions } from '../time/functions.ts'
import type { GoFunction } from '../values/go-function.ts'
import { builtinFunctions } from './builtins.ts'
import { defaultFunctions } from './defaults.ts'
import { dictFunctions } from './dicts.ts'
import { encodingFunctions } from './encodings.ts'
import { letterCaseFunctions } from './letter-case.ts'
import { listFunctions } from './lists.ts'
import { numberFunctions } from './numbers.ts'
import { pathFunctions } from './paths.ts'
import { randomFunctions } from './random.ts'
import { regexpFunctions } from './regexps.ts'
import { stringFunctions } from './strings.ts'
import { urlFunctions } from './urls.ts'

export const FUNCTIONS: ReadonlyMap<string, GoFunction> = new Map(
  [
    builtinFunctions,
    stringFunctions,
    letterCaseFunctions,
    numberFunctions,
    listFunctions,
    dictFunctions,
    defaultFunctions,
    encodingFunctions,
    pathFunctions,
    randomFunctions,
    regexpFunctions,
    urlFunctions,
    semverFunctions,
    timeFunctions,
    dataFunctions,
    cryptoFunctions,
    helmFunctions,
  ]
    .flat()
    .map((each) => [each.name, each]),
)
