# What packets cost a forwarder on one machine, measured by `cairn lab calibrate`.
machine = "2 × AMD EPYC, Linux 6.18.44-fc-v669"
program = "commit f2ccdbf14836bbe1c2dab9f45dd036f52cd867ab, sources as committed; SHA-256 71b6a7859b855bf59b8e180d81614110b95f6db9cec0df7e7685594cf8b9862d"
idle_percent = 0.16
timer_us = 24.44

[link.ether]
interest_us = 13.74
data_us = 6.77
data_us_per_kilobyte = 5.33
waking = [[0.0, 0.0], [0.366, 20.23], [1.213, 23.3], [2.463, 23.42], [9.941, 44.81], [39.943, 42.89]]
data_waking = [[0.0, 0.0], [1.178, 43.04], [2.399, 72.83], [9.883, 87.96]]
data_waking_us_per_kilobyte = 11.46
frame_us = 33.0
store_us_per_kilobyte = 0.43
latency_us = 18.55

[link.ether.consumer]
interest_us = 5.21
data_us = 10.98
data_us_per_kilobyte = 0.69
waking = [[0.0, 0.0], [0.363, 31.9], [1.208, 36.5], [2.455, 39.61], [9.918, 76.43], [39.92, 75.1]]
data_waking = [[0.0, 0.0], [1.21, 26.34], [2.408, 78.05], [9.944, 41.96]]
data_waking_us_per_kilobyte = 10.42
frame_us = 23.95

[link.ether.producer]
interest_us = 6.94
data_us = 3.6
data_us_per_kilobyte = 3.81
waking = [[0.0, 0.0], [0.377, 16.31], [1.228, 15.33], [2.485, 8.47], [9.976, 17.23], [39.969, 24.09]]
data_waking = [[0.0, 0.0], [1.196, 34.37], [2.419, 61.59], [9.904, 76.64]]
data_waking_us_per_kilobyte = 6.93

[link.tcp]
interest_us = 2.61
data_us = 0.0
data_us_per_kilobyte = 15.01
waking = [[0.0, 0.0], [0.345, 52.68], [1.201, 45.93], [2.452, 45.72], [9.94, 57.19], [39.953, 44.14]]
data_waking = [[0.0, 0.0], [1.188, 2.85], [2.432, 8.94], [9.884, 57.51]]
data_waking_us_per_kilobyte = -12.15
store_us_per_kilobyte = 0.0
latency_us = 21.4

[link.tcp.consumer]
interest_us = 3.43
data_us = 0.0
data_us_per_kilobyte = 9.93
waking = [[0.0, 0.0], [0.321, 75.8], [1.21, 36.25], [2.456, 41.0], [9.918, 78.99], [39.934, 62.72]]
data_waking = [[0.0, 0.0], [1.198, 13.01], [2.426, 34.73], [9.894, 67.22]]
data_waking_us_per_kilobyte = -7.72

[link.tcp.producer]
interest_us = 3.42
data_us = 0.0
data_us_per_kilobyte = 4.14
waking = [[0.0, 0.0], [0.376, 20.69], [1.225, 21.85], [2.458, 38.98], [9.911, 85.08], [39.958, 38.49]]
data_waking = [[0.0, 0.0], [1.195, 40.81], [2.465, 21.0], [9.957, 28.53]]
data_waking_us_per_kilobyte = -1.59

[link.udp]
interest_us = 5.01
data_us = 1.02
data_us_per_kilobyte = 4.73
waking = [[0.0, 0.0], [0.352, 43.41], [1.203, 41.67], [2.456, 39.47], [9.941, 54.42], [39.949, 45.92]]
data_waking = [[0.0, 0.0], [1.194, 35.69], [2.459, 20.52], [9.939, 40.99]]
data_waking_us_per_kilobyte = 0.6
cache_hit_us = 15.27
cache_hit_waking = [[0.0, 0.0], [2.455, 29.72], [9.934, 50.8]]
store_us_per_kilobyte = 1.75
latency_us = 26.71

[link.udp.consumer]
interest_us = 4.49
data_us = 0.09
data_us_per_kilobyte = 2.9
waking = [[0.0, 0.0], [0.352, 43.86], [1.2, 45.55], [2.453, 42.1], [9.909, 86.94], [39.878, 117.29]]
data_waking = [[0.0, 0.0], [1.209, 29.19], [2.47, 18.29], [9.991, 0.0]]
data_waking_us_per_kilobyte = -0.1

[link.udp.producer]
interest_us = 2.7
data_us = 0.0
data_us_per_kilobyte = 3.54
waking = [[0.0, 0.0], [0.377, 20.66], [1.223, 24.19], [2.471, 26.34], [9.957, 40.66], [39.942, 54.94]]
data_waking = [[0.0, 0.0], [1.183, 54.35], [2.459, 28.61], [9.894, 93.32]]
data_waking_us_per_kilobyte = -1.21

[signature.ecdsa-p256]
sign_us = 17.91
verify_us = 50.69

[signature.ed25519]
sign_us = 22.06
verify_us = 42.81

[signature.hmac]
sign_us = 2.76
verify_us = 2.54

[signature.sha256]
sign_us = 2.57
verify_us = 2.41

[dialect.ccnx]
interest_us = 0.07
data_us = 0.09

[dialect.ndn]
interest_us = 0.05
data_us = 0.06

[disk]
insert_us = 11.03
answer_us = 1.22
