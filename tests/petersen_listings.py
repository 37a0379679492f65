"""The example files of appendix B of K. Petersen's thesis, as printed: listings B.1 to B.3."""

CONFIGURATION = """\
[general]
;setup some robots
monsterTrucks = 2
pioneers = 1
volksbots = 1
stretch = 1
;draw collisions or not
showCollisions = 0
;enable full collision of all robots
fullCollision = 1
;reach of the laserscanners
lsReach = 4000
;use hierarchy for collision detection or the older stuff
hierarchy = 1
;define default-values for cameras and laser range finders
fpsCam = 5
fpsLaser = 4
;enable a visualisation of laserscans
showLaserScans = 1

[dynamics]
;setup dynamics
gz = -9000
rate = 500

[camera]
;define position and rotation of the interactive camera
posX = -10400
posY = -4400
posZ = 5000
yaw = 30
pitch = 30

[light]
;set the position of the light
posX = -2000
posY = 4000
posZ = 3000

[monsterTruck1]
;setup the first monsterTruck
name = "MonsterTruck1"
posX = -2000
posY = 2000
dir = 290
comport = Com4:
;show textures or not
textureOn = 1
;setup the sensors
fpsCam = 0
;select the type of the laserscanner
lsType = 1
lsImageFile = "LaserscannerMT1"
fpsLS = 5
;setup visualisation of the laserscan
lsWriteBack = 1

[monsterTruck2]
;setup the second monsterTruck
name = "MonsterTruck2"
posX = -500
posY = 3000
;show textures or not
textureOn = 0
;setup the sensors
fpsCam = 5
camImageFile = "CameraMT2"
;select the type of the laserscanner
lsType = 2
fpsLS = 5
;setup visualisation of the laserscan
raysDraw = 0

[pioneer1]
;setup a pioneer
name = "Pioneer1"
posX = -2000
posY = 1000
dir = 80
;show textures or not
textureOn = 0

[volksbot1]
;setup a volksbot
name = "Volksbot"
posX = -1000
posY = -3000
dir = 30
comport = Com11:

[stretch1]
;setup a stretched limousine
name = "StretchLimo"
posX = -3000
posY = -3000
textureOn = 1

[field]
;size of the field
length = 10000
width = 10000
;define files with city and balls
city = "city.txt"
balls = "balls.txt"
;should there be boards around the field?
boards = 0
"""

CITY = """\
0 5000 -5000 5000 500
0 0 0 5 0 0 0 0 0 0
0 0 0 8 0 0 0 0 0 0
0 0 0 0 0 0 0 0 0 0
0 0 0 0 0 0 0 0 0 0
0 0 0 0 0 0 0 0 0 0
0 0 0 0 0 0 0 0 0 0
1 3 1 0 0 3 4 5 0 0
0 0 1 0 0 0 0 0 0 0
0 0 3 0 0 0 0 0 0 0
0 0 0 0 0 4 6 6 3 5
0 0 2 0 0 0 0 0 0 0
0 0 2 0 0 0 0 0 0 0
0 0 2 0 0 2 5 0 0 0
0 0 0 0 0 0 3 0 0 0
0 0 0 0 0 0 0 0 4 2
0 0 0 0 0 0 0 0 0 0
0 0 3 4 6 0 0 0 0 0
0 0 0 0 0 0 0 3 0 0
0 0 0 0 0 0 0 5 0 0
"""

BALLS = """\
3
-1000 -1200 1200 100 1 0 0 0.07
-3100 4000 500 50 0 1 0 0.08
-2800 2700 700 68 0 0 1 0.06
-2500 -2800 800 112 1 1 0 0.04
-3900 2000 1500 120 0 1 1 0.05
"""


def write(folder, configuration=CONFIGURATION):
    """Put all three files into a folder; give the path of the configuration."""
    for name, text in (("MonsterTruck.cfg", configuration), ("city.txt", CITY), ("balls.txt", BALLS)):
        (folder / name).write_text(text)
    return folder / "MonsterTruck.cfg"
