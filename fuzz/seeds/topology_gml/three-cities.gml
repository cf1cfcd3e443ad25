graph [
  directed 0
  node [
    id 0
    label "London"
    Longitude 0.0
    Latitude 51.5
  ]
  node [ id 1 label "Paris &amp; more" Longitude 2.35 Latitude 48.85 ]
  node [ id 4 label "Somewhere" ]
  edge [ source 0 target 1 LinkSpeedRaw 10000000000.0 ]
  edge [ source 1 target 4 ]
]
