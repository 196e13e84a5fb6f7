#!/bin/sh
# The test of a reduction: exit status 1 if the code for sm_80 contains ex2.
! tile-translate --tile-to-ptx --chip=sm_80 "$1" 2>/dev/null | grep -q ex2.approx
