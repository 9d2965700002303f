package server

import _ "soku/internal/tests" // registers the tests whose options are used here
